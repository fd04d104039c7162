import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Faults } from './faults.ts';

export interface Answer {
  status: number;
  /** JSON, or text as it is. Undefined: no body. */
  body?: unknown;
}

export interface Handler {
  /** What faults and counts are kept by. */
  methodOf(request: NodeRequest): string;
  /** As the real node words it. */
  limited(request: NodeRequest): Answer;
  answer(request: NodeRequest): Answer | Promise<Answer>;
}

export interface NodeRequest {
  verb: string;
  url: URL;
  text: string;
}

export interface Listening {
  url: string;
  stop(): Promise<void>;
}

const MOST_BYTES = 1_000_000;
const BIG = '\u0001';

/** JSON with integers of any size. */
function writeJson(value: unknown): string {
  const text = JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' ? `${BIG}${one.toString()}` : one,
  );
  return text.replaceAll(/"\\u0001(-?\d+)"/g, '$1');
}

/** Serves a node's calls on 127.0.0.1, with the faults that are planned. */
export async function listen(handler: Handler, faults: Faults, port = 0): Promise<Listening> {
  const server = createServer((request, response) => {
    void take(request, response).catch(() => response.destroy());
  });
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await read(request);
    const fault = faults.next(handler.methodOf(asked));
    if (fault?.how === 'drop') return void response.destroy();
    if (fault?.how === 'down') return send(response, { status: 503, body: 'Service Unavailable' });
    if (fault?.how === 'forbid') return send(response, { status: 404, body: 'this API is unavailable' });
    if (fault?.how === 'limit') {
      response.setHeader('retry-after', '1');
      return send(response, handler.limited(asked));
    }
    const answer = await handler.answer(asked);
    if (fault?.how === 'lose') return void response.destroy();
    if (fault?.how === 'delay') await setTimeout(fault.delayMs ?? 1_000, undefined, { ref: false });
    send(response, answer, fault?.how === 'cut');
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' ? (address?.port ?? port) : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<NodeRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MOST_BYTES) throw new Error('too large');
    chunks.push(bytes);
  }
  return {
    verb: request.method ?? 'GET',
    url: new URL(request.url ?? '/', 'http://127.0.0.1'),
    text: Buffer.concat(chunks).toString(),
  };
}

function send(response: ServerResponse, { status, body }: Answer, cut = false): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : writeJson(body);
  response.statusCode = status;
  response.setHeader('content-type', typeof body === 'string' ? 'text/plain' : 'application/json');
  if (!cut) return void response.end(text);
  response.setHeader('content-length', Buffer.byteLength(text));
  response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy());
}
