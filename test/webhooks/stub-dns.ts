import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4, isIPv6 } from 'node:net';

/** The answer for a name: addresses of either kind, another name and its addresses, a refusal, or none. */
export type Answer =
  | readonly string[]
  | { cname: string; addresses: readonly string[] }
  | Refusal
  | 'TIMEOUT';
type Refusal = 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'GARBAGE';

/** @param nth the number of queries for this name and kind of address, this one included */
export type Zone = (name: string, nth: number, kind: 'A' | 'AAAA') => Answer;

export interface StubDns {
  /** `ip:port`, for FLORIN_OUTBOUND_RESOLVER. */
  resolver: string;
  /** Questions so far, as `A name`. */
  questions: readonly string[];
  stop(): void;
}

const HEADER_BYTES = 12;
const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
] as const);
const CNAME = 5;
const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5, GARBAGE: 0 };

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const hex = address.replace(/\d+\.\d+\.\d+\.\d+$/, (v4) =>
    addressBytes(v4).toString('hex').replace(/^.{4}/, '$&:'),
  );
  const [head = '', tail] = hex.split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const all = [...before, ...(tail === undefined ? [] : zeros), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

/** A record with a TTL of 0 s, which must not be cached. */
function recordOf(name: Buffer, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, fields, data]);
}

function recordsOf(answer: Answer, type: number, question: Buffer): Buffer[] {
  if (typeof answer === 'string') return [];
  const { cname, addresses } = 'cname' in answer ? answer : { cname: undefined, addresses: answer };
  const owner = cname === undefined ? question : nameBytes(cname);
  const alias = cname === undefined ? [] : [recordOf(question, CNAME, nameBytes(cname))];
  const fits = addresses.filter(type === 1 ? isIPv4 : isIPv6);
  return [...alias, ...fits.map((address) => recordOf(owner, type, addressBytes(address)))];
}

function reply(
  query: Buffer,
  answer: Exclude<Answer, 'TIMEOUT'>,
  question: { end: number; type: number },
): Buffer {
  if (answer === 'GARBAGE') return Buffer.concat([query.subarray(0, 2), Buffer.from('no DNS at all')]);
  const name = query.subarray(HEADER_BYTES, question.end);
  const records = recordsOf(answer, question.type, name);
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? RCODES[answer] : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.fill(0, 8);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, question.end + 4), ...records]);
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** A DNS server on loopback that calls its zone for every query. */
export async function startStubDns(zone: Zone): Promise<StubDns> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query: Buffer, { address, port }: RemoteInfo) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const kind = TYPES.get(type as 1 | 28);
    if (kind === undefined) return;
    const question = `${kind} ${name}`;
    questions.push(question);
    const nth = questions.filter((one) => one === question).length;
    const answer = zone(name, nth, kind);
    if (answer !== 'TIMEOUT') socket.send(reply(query, answer, { end, type }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    resolver: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: () => socket.close(),
  };
}
