import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** An established TLS connection, and the TCP connection below it. */
export interface Line {
  tls: TLSSocket;
  tcp: Socket;
}

export interface Asked {
  /** The path after the behaviour's name; may be empty. */
  argument: string;
  /** Number of requests for this path, this one included. */
  nth: number;
}

export type Behaviour = (line: Line, asked: Asked) => void;

const DRIP_MS = 20;
const INNER_URL = 'https://169.254.169.254/latest/meta-data/';

/** The head of an answer and its body; a length unless one is given. */
function answerText(status: number, headers: Record<string, string> = {}, body = `status ${status}`): string {
  const all = { 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n${status === 204 || status === 304 ? '' : body}`;
}

/** Writes for as long as the client reads. */
function flood({ tls }: Line, chunk: Buffer): void {
  const more = () => {
    while (tls.writable && tls.write(chunk));
  };
  tls.on('drain', more);
  more();
}

function drip({ tls }: Line, byte: string): void {
  const timer = setInterval(() => tls.write(byte), DRIP_MS);
  tls.once('close', () => clearInterval(timer));
}

/** Byte by byte, each in a packet of its own. */
async function spell({ tls }: Line, text: string): Promise<void> {
  for (const byte of text) {
    tls.write(byte);
    await new Promise((next) => setImmediate(next));
  }
}

/** Resets the connection once the text was sent. */
function writeAndReset({ tls, tcp }: Line, text: string): void {
  tls.write(text, () => setTimeout(() => tcp.resetAndDestroy(), DRIP_MS));
}

const HALF_A_HEAD = 'HTTP/1.1 200 Said\r\nContent-Le';
const HALF_A_BODY = 'HTTP/1.1 200 Said\r\nContent-Length: 100\r\n\r\nhalf of it';

/** Behaviours of a receiver, by the first part of the request's path: `/status/503`, `/hang`. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  status: ({ tls }, { argument }) => tls.write(answerText(Number(argument))),
  /** `/sequence/500,429,200`: one after the other, the last for ever. */
  sequence: ({ tls }, { argument, nth }) => {
    const statuses = argument.split(',').map(Number);
    tls.write(answerText(statuses[Math.min(nth, statuses.length) - 1] ?? 500));
  },
  /** `/flaky/5`: every fifth request of the path is answered 500, the others 200. */
  flaky: ({ tls }, { argument, nth }) => tls.write(answerText(nth % Number(argument) === 0 ? 500 : 200)),
  /** `/late/300`: after so many milliseconds. */
  late: ({ tls }, { argument }) => void setTimeout(() => tls.write(answerText(200)), Number(argument)),
  redirect: ({ tls }, { argument }) => tls.write(answerText(Number(argument), { Location: INNER_URL })),
  'retry-after': ({ tls }, { argument }) =>
    tls.write(answerText(503, { 'Retry-After': decodeURIComponent(argument) })),
  /** `/body/20480`: a body of so many bytes. */
  body: ({ tls }, { argument }) => tls.write(answerText(200, {}, 'b'.repeat(Number(argument)))),
  /** Not UTF-8. */
  'odd-bytes': ({ tls }) => {
    tls.write('HTTP/1.1 200 Said\r\nContent-Length: 3\r\n\r\n');
    tls.write(Buffer.of(0xff, 0x00, 0xfe));
  },
  hang: () => {},
  'drip-header': (line) => {
    line.tls.write('HTTP/1.1 200 Said\r\nX-Long: ');
    drip(line, 'a');
  },
  'drip-body': (line) => {
    line.tls.write('HTTP/1.1 200 Said\r\nContent-Length: 1000000\r\n\r\nbegun ');
    drip(line, 'b');
  },
  'endless-body': (line) => {
    line.tls.write('HTTP/1.1 200 Said\r\nConnection: close\r\n\r\n');
    flood(line, Buffer.alloc(16_384, 'e'));
  },
  'endless-header': (line) => {
    line.tls.write('HTTP/1.1 200 Said\r\n');
    flood(line, Buffer.from('X-More: and more\r\n'.repeat(100)));
  },
  /** `/header/65000`: a header with a value of so many bytes. */
  header: ({ tls }, { argument }) => tls.write(answerText(200, { 'X-Long': 'h'.repeat(Number(argument)) })),
  /** `/interim/100,103`: these first, then 200; byte by byte. */
  interim: (line, { argument }) => {
    const interim = argument.split(',').map((status) => `HTTP/1.1 ${status} Wait\r\nX-Early: 100\r\n\r\n`);
    void spell(line, interim.join('') + answerText(200));
  },
  'endless-interim': (line) => flood(line, Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100))),
  close: ({ tls }) => tls.end(),
  reset: ({ tcp }) => tcp.resetAndDestroy(),
  'reset-in-header': (line) => writeAndReset(line, HALF_A_HEAD),
  'reset-in-body': (line) => writeAndReset(line, HALF_A_BODY),
  'close-in-header': ({ tls }) => tls.end(HALF_A_HEAD),
  'close-in-body': ({ tls }) => tls.end(HALF_A_BODY),
  /** Announces keep-alive, and closes. */
  'answer-and-close': ({ tls }) => tls.end(answerText(200)),
  'answer-and-close-later': ({ tls }) =>
    tls.write(answerText(200), () => setTimeout(() => tls.end(), DRIP_MS)),
  'answer-and-reset': (line) => writeAndReset(line, answerText(200)),
  /** `/no-keep-alive`: announces that it closes. */
  'no-keep-alive': ({ tls }) => tls.end(answerText(200, { Connection: 'close' })),
  /** An unsolicited second answer, which a client could take for the next request's. */
  'two-answers': ({ tls }) => tls.write(answerText(200) + answerText(410)),
  'gzip-bomb': ({ tls }) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    tls.write(answerText(200, { 'Content-Encoding': 'gzip', 'Content-Length': String(bomb.length) }, ''));
    tls.write(bomb);
  },
  'not-http': ({ tls }) => tls.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'http-9': ({ tls }) => tls.end('HTTP/9.9 200 Said\r\n\r\nnew'),
  'broken-length': ({ tls }) => tls.end(answerText(200, { 'Content-Length': '10, 20' })),
  'broken-status': ({ tls }) => tls.end('HTTP/1.1 2OO Said\r\n\r\n'),
  upgrade: ({ tls }) => tls.write('HTTP/1.1 101 Now\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
};
