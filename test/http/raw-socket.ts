import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it lay on the wire. */
export interface WireAnswer {
  status: number;
  /** Names in lower case; a repeated one is joined by `, `. */
  headers: Record<string, string>;
  text: string;
  json: Record<string, unknown>;
}

export interface Exchange {
  answers: WireAnswer[];
  /** The server closed the connection. */
  closed: boolean;
  /** Bytes that are no whole answer. */
  rest: string;
}

export interface ExchangeOptions {
  /** Stops reading when so many answers are there; else when the server closes. */
  answers?: number;
  timeoutMs?: number;
  /** Sent when the given bytes are out: for bodies without end. Stops when the connection closes. */
  pour?: Buffer;
}

/** Writes bytes exactly as given over one connection, and reads what comes back. */
export async function exchange(
  baseUrl: string,
  bytes: string | Buffer,
  options: ExchangeOptions = {},
): Promise<Exchange & { poured: number }> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  let closed = false;
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.on('error', () => {
    closed = true;
  });
  socket.on('close', () => {
    closed = true;
  });
  await once(socket, 'connect');
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const pouring = options.pour === undefined ? Promise.resolve(0) : pour(socket, options.pour, () => closed);
  const until = Date.now() + (options.timeoutMs ?? 10_000);
  const wanted = options.answers ?? Number.POSITIVE_INFINITY;
  while (!closed && readAnswers(received).answers.length < wanted && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const seenClosed = closed;
  socket.destroy();
  return { ...readAnswers(received), closed: seenClosed, poured: await pouring };
}

async function pour(socket: Socket, chunk: Buffer, isClosed: () => boolean): Promise<number> {
  let poured = 0;
  while (!isClosed() && socket.writable) {
    poured += chunk.length;
    if (socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
  }
  return poured;
}

function readAnswers(received: Buffer): { answers: WireAnswer[]; rest: string } {
  const answers: WireAnswer[] = [];
  let rest = received.toString('latin1');
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return { answers, rest };
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [name = '', ...value] = line.split(': ');
      const known = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = known === undefined ? value.join(': ') : `${known}, ${value.join(': ')}`;
    }
    const length = Number(headers['content-length'] ?? 0);
    const text = rest.slice(headEnd + 4, headEnd + 4 + length);
    if (text.length < length) return { answers, rest };
    rest = rest.slice(headEnd + 4 + length);
    if (status >= 200) answers.push({ status, headers, text, json: jsonOf(text) });
  }
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString());
  } catch {
    return {};
  }
}

/** A request as text: the request line, `Host`, the given lines, and the body as it is. */
export function requestText(
  line: string,
  headers: readonly (readonly [name: string, value: string])[],
  body = '',
): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [line, 'Host: florin.test', ...lines, '', body].join('\r\n');
}
