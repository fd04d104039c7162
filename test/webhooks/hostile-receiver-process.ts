// A hostile receiver of webhooks, in a process of its own. Its parent queries the received requests; see
// hostile-receiver.ts.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import { Authority, selfSigned } from './certificates.ts';
import { BEHAVIOURS, type Line } from './hostile-behaviours.ts';
import type { Door, Question, ReceivedRequest, Report } from './hostile-receiver.ts';

const DAY_MS = 86_400_000;
const NAMES = ['localhost', 'shop.localhost', '*.hook.test', '127.0.0.1', '127.0.0.2'];
const HEAD_END = '\r\n\r\n';
/** The beginning of a TLS handshake. */
const HALF_A_HELLO = Buffer.from(`160303007a020000760303${'5a'.repeat(24)}`, 'hex');

const authority = new Authority();
const requests: ReceivedRequest[] = [];
const asked = new Map<string, number>();
const connections: Partial<Record<Door, number>> = {};
const raw: Partial<Record<Door, string>> = {};
const open = new Set<Socket>();
let mostOpen = 0;
let lastConnection = 0;

function record(line: Line, connection: number, text: string): void {
  const [head = '', body = ''] = text.split(HEAD_END, 2);
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = lines.map((header): [string, string] => {
    const colon = header.indexOf(':');
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
  });
  requests.push({
    connection,
    method,
    path,
    headers: Object.fromEntries(headers),
    headerLines: lines,
    body: Buffer.from(body, 'latin1').toString('utf8'),
    atMs: Date.now(),
  });
  const nth = (asked.get(path) ?? 0) + 1;
  asked.set(path, nth);
  const [, name = '', argument = ''] = path.split('?', 1)[0]?.split('/') ?? [];
  BEHAVIOURS[name]?.(line, { argument, nth });
}

/** Splits the received bytes into requests: a head and as many bytes as its length. */
function readRequests(line: Line, connection: number): void {
  let text = '';
  line.tls.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (;;) {
      const end = text.indexOf(HEAD_END);
      if (end === -1) return;
      const [, length = '0'] = /^content-length: *(\d+)/im.exec(text.slice(0, end)) ?? [];
      const total = end + HEAD_END.length + Number(length);
      if (text.length < total) return;
      record(line, connection, text.slice(0, total));
      text = text.slice(total);
    }
  });
}

function overTls(options: SecureContextOptions): (tcp: Socket, connection: number) => void {
  const secureContext = createSecureContext(options);
  return (tcp, connection) => {
    const tls = new TLSSocket(tcp, { isServer: true, secureContext, ALPNProtocols: ['h2', 'http/1.1'] });
    tls.on('error', () => {});
    readRequests({ tls, tcp }, connection);
  };
}

function keep(door: Door): (tcp: Socket) => void {
  return (tcp) => {
    tcp.on('data', (chunk) => {
      raw[door] = (raw[door] ?? '') + chunk.toString('latin1');
    });
  };
}

const good = authority.issue({ names: NAMES });
const past = [Date.now() - 9 * DAY_MS, Date.now() - DAY_MS] as const;
const future = [Date.now() + DAY_MS, Date.now() + 9 * DAY_MS] as const;

const DOORS: Readonly<Record<Door, (tcp: Socket, connection: number) => void>> = {
  good: overTls(good),
  'tls-1.2': overTls({ ...good, maxVersion: 'TLSv1.2' }),
  'self-signed': overTls(selfSigned({ names: NAMES })),
  'other-authority': overTls(new Authority().issue({ names: NAMES })),
  expired: overTls(authority.issue({ names: NAMES, validMs: past })),
  'not-yet-valid': overTls(authority.issue({ names: NAMES, validMs: future })),
  'wrong-name': overTls(authority.issue({ names: ['example.com', '127.0.0.9'] })),
  'old-tls': overTls({
    ...good,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  }),
  'plain-http': (tcp) => {
    keep('plain-http')(tcp);
    tcp.once('data', () => tcp.end('HTTP/1.1 400 Said\r\nContent-Length: 0\r\n\r\n'));
  },
  'cut-in-handshake': (tcp) => {
    keep('cut-in-handshake')(tcp);
    tcp.once('data', () => tcp.write(HALF_A_HELLO, () => setTimeout(() => tcp.resetAndDestroy(), 50)));
  },
  'reset-after-hello': (tcp) => tcp.once('data', () => tcp.resetAndDestroy()),
  'reset-at-accept': (tcp) => tcp.resetAndDestroy(),
  'close-at-accept': (tcp) => tcp.resume().end(),
  silent: keep('silent'),
};

async function openDoor(door: Door): Promise<[Door, number]> {
  const server: Server = createServer((tcp) => {
    lastConnection += 1;
    connections[door] = (connections[door] ?? 0) + 1;
    open.add(tcp);
    mostOpen = Math.max(mostOpen, open.size);
    tcp.on('error', () => {}).on('close', () => open.delete(tcp));
    DOORS[door](tcp, lastConnection);
  });
  // All addresses of this machine: 127.0.0.2 and ::1 are tried too.
  server.listen(0);
  await once(server, 'listening');
  return [door, (server.address() as AddressInfo).port];
}

const ports = Object.fromEntries(await Promise.all((Object.keys(DOORS) as Door[]).map(openDoor)));

process.on('message', ({ id, ask }: Question) => {
  const report: Report = { requests, connections, raw, open: open.size, mostOpen };
  process.send?.({ id, report });
  if (ask !== 'forget') return;
  requests.length = 0;
  asked.clear();
  for (const record of [connections, raw]) for (const key of Object.keys(record)) delete record[key as Door];
  mostOpen = open.size;
});
process.on('disconnect', () => process.exit());
process.send?.({ ports, ca: authority.cert });
