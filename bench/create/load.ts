import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  perSecond: number;
  /** Milliseconds from the first byte written to the last byte read, of each request. */
  latenciesMs: number[];
}

/**
 * Sends prebuilt requests over a fixed number of connections, each waiting for an answer before it sends the next, and
 * reads no more of the answers than their status and length: a client that costs little beside the server.
 *
 * @throws where an answer is not 200
 */
export async function load(
  baseUrl: string,
  requests: readonly Buffer[],
  connections: number,
): Promise<LoadResult> {
  const { hostname, port } = new URL(baseUrl);
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  const queue = requests.values();
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  try {
    await Promise.all(sockets.map((socket) => drive(socket, queue, latenciesMs)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return { perSecond: (latenciesMs.length * 1000) / (performance.now() - startMs), latenciesMs };
}

function drive(socket: Socket, queue: Iterator<Buffer>, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentMs = 0;
    let received: Buffer = Buffer.alloc(0);
    const sendNext = () => {
      const next = queue.next();
      if (next.done) {
        resolve();
        return;
      }
      sentMs = performance.now();
      socket.write(next.value);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const length = answerLength(received);
      if (length === undefined || received.length < length) return;
      if (!received.subarray(0, 12).equals(OK)) {
        reject(new Error(`the service answered ${received.toString('utf8', 0, 600)}`));
        return;
      }
      latenciesMs.push(performance.now() - sentMs);
      received = received.subarray(length);
      sendNext();
    });
    sendNext();
  });
}

const OK = Buffer.from('HTTP/1.1 200');
const HEAD_END = '\r\n\r\n';

/** Bytes of the whole answer at the start of the buffer, once its head is there. */
function answerLength(received: Buffer): number | undefined {
  const end = received.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1];
  return end + HEAD_END.length + Number(length ?? 0);
}
