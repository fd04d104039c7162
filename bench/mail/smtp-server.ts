// The least of a mail server: it takes every mail at once. (`smtp-server` of the tests greets only after 100 ms.)
// `count` on its standard input: how many it took, and in how many seconds.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { say, untilTold } from '../child.ts';

let count = 0;
let firstMs = 0;
let lastMs = 0;

function taken(): void {
  lastMs = performance.now();
  if (count === 0) firstMs = lastMs;
  count += 1;
}

/** The answer to a command. */
function answerTo(line: string): string {
  if (/^EHLO/i.test(line)) return '250-bench\r\n250 8BITMIME';
  if (/^DATA/i.test(line)) return '354 go on';
  return /^QUIT/i.test(line) ? '221 bye' : '250 ok';
}

function converse(socket: Socket): void {
  let isBody = false;
  socket.on('error', () => {});
  socket.setNoDelay(true).write('220 bench\r\n');
  createInterface({ input: socket }).on('line', (line) => {
    if (isBody && line !== '.') return;
    if (isBody) taken();
    socket.write(`${isBody ? '250 taken' : answerTo(line)}\r\n`);
    isBody = !isBody && /^DATA/i.test(line);
    if (/^QUIT/i.test(line)) socket.end();
  });
}

const server = createServer(converse);
createInterface({ input: process.stdin }).on('line', () => {
  say({ count, seconds: (lastMs - firstMs) / 1000 });
  count = 0;
});
server.listen(0, '127.0.0.1', () => {
  untilTold(async () => server.close());
  say({ port: (server.address() as AddressInfo).port });
});
