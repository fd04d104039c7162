import { bytesOf, concat, numberOf } from './bytes.ts';

/** RLP, the encoding of Ethereum's transactions: a string of bytes, or a list of such. */
export type Rlp = Uint8Array | readonly Rlp[];

/** Bytes that are not what they should be, or not in the one form that they have. */
export class BadEncoding extends Error {}

const SHORT_STRING = 0x80;
const LONG_STRING = 0xb7;
const SHORT_LIST = 0xc0;
const LONG_LIST = 0xf7;
const SHORT_MAX = 55;
/** Deeper than any transaction: access lists are lists in lists in lists. */
const DEPTH_MAX = 8;
/** More than any transaction that is signed here has: a list of a million bytes would be as many values. */
const ITEMS_MAX = 1_000;

export function encodeRlp(value: Rlp): Uint8Array {
  if (!(value instanceof Uint8Array)) return withLength(concat(...value.map(encodeRlp)), SHORT_LIST);
  const [first = SHORT_STRING] = value;
  if (value.length === 1 && first < SHORT_STRING) return value;
  return withLength(value, SHORT_STRING);
}

function withLength(payload: Uint8Array, offset: number): Uint8Array {
  const { length } = payload;
  if (length <= SHORT_MAX) return concat(Uint8Array.of(offset + length), payload);
  const size = bytesOf(BigInt(length));
  return concat(Uint8Array.of(offset + SHORT_MAX + size.length), size, payload);
}

/**
 * Decodes all of the bytes. Each value has one encoding: any other one, and bytes behind the end, are refused.
 *
 * @throws BadEncoding
 */
export function decodeRlp(bytes: Uint8Array): Rlp {
  const { value, end } = decodeAt(bytes, 0, 0);
  if (end !== bytes.length) throw new BadEncoding('there are bytes behind the end');
  return value;
}

function decodeAt(bytes: Uint8Array, start: number, depth: number): { value: Rlp; end: number } {
  if (depth > DEPTH_MAX) throw new BadEncoding('lists lie too deep in each other');
  const head = bytes[start];
  if (head === undefined) throw new BadEncoding('it ends early');
  if (head < SHORT_STRING) return { value: bytes.slice(start, start + 1), end: start + 1 };
  const isList = head >= SHORT_LIST;
  const [short, long] = isList ? [SHORT_LIST, LONG_LIST] : [SHORT_STRING, LONG_STRING];
  const from = head > long ? start + 1 + head - long : start + 1;
  const end = from + (head > long ? longLength(bytes, start + 1, from) : head - short);
  if (end > bytes.length) throw new BadEncoding('it ends early');
  if (isList) return { value: itemsOf(bytes, { from, end, depth }), end };
  const value = bytes.slice(from, end);
  const [first = SHORT_STRING] = value;
  if (value.length === 1 && first < SHORT_STRING) throw new BadEncoding('a byte is not in its shortest form');
  return { value, end };
}

function itemsOf(
  bytes: Uint8Array,
  { from, end, depth }: { from: number; end: number; depth: number },
): Rlp[] {
  const items: Rlp[] = [];
  for (let at = from; at < end; ) {
    const item = decodeAt(bytes, at, depth + 1);
    if (item.end > end) throw new BadEncoding('an item is longer than its list');
    if (items.length === ITEMS_MAX) throw new BadEncoding('a list has too many items');
    items.push(item.value);
    at = item.end;
  }
  return items;
}

function longLength(bytes: Uint8Array, from: number, end: number): number {
  const digits = bytes.subarray(from, end);
  if (digits.length !== end - from) throw new BadEncoding('it ends early');
  const length = numberOf(digits);
  if (digits[0] === 0 || length <= SHORT_MAX || length > Number.MAX_SAFE_INTEGER)
    throw new BadEncoding('a length is not in its shortest form');
  return Number(length);
}
