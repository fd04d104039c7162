// Receivers of webhooks, all in one process: HTTPS on an address of its own each. Paths that begin with /hang are never
// answered. Told `reset` it forgets; it says when the first request after that came, and when the last of those awaited.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { Authority } from '../../test/webhooks/certificates.ts';
import { argument, say, untilTold } from '../child.ts';
import { machineMs } from '../queue/queues.ts';

export interface ReceiverTask {
  origins: number;
}

const HEAD_END = '\r\n\r\n';
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

let awaited = 0;
let came = 0;
let firstMs = 0;
let tells = false;

function received(head: string): void {
  came += 1;
  if (came === 1) firstMs = machineMs();
  if (tells) say({ event: /^x-service-event-id: *(\S+)/im.exec(head)?.[1], atMs: machineMs() });
  else if (came === awaited) say({ firstMs, lastMs: machineMs() });
}

/** Answers each request as soon as it is whole. */
function serve(socket: TLSSocket): void {
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    text = text === '' ? chunk.toString('latin1') : text + chunk.toString('latin1');
    for (let end = text.indexOf(HEAD_END); end !== -1; end = text.indexOf(HEAD_END)) {
      const head = text.slice(0, end);
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      const total = end + HEAD_END.length + length;
      if (text.length < total) return;
      text = text.slice(total);
      if (head.startsWith('POST /hang')) continue;
      socket.write(ANSWER);
      received(head);
    }
  });
}

const { origins } = argument<ReceiverTask>();
const authority = new Authority();
const hosts = Array.from({ length: origins }, (_, i) => `127.1.${i >> 8}.${i & 255}`);
const servers: Server[] = [];
let port = 0;
for (const host of hosts) {
  const server = createServer(authority.issue({ names: [host] }), serve);
  server.listen({ host, port, backlog: 1_024 });
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  servers.push(server);
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const [order, count] = line.split(' ');
  tells = order === 'tell';
  awaited = Number(count ?? 0);
  came = 0;
  say({ ready: true });
});
untilTold(async () => {
  for (const server of servers) server.close();
});
say({ ca: authority.cert, urls: hosts.map((host) => `https://${host}:${port}`) });
