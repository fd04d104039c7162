import { concat } from '../bytes.ts';
import { BadEncoding } from '../rlp.ts';

/** What a message may hold: numbers are int64, enum or bool, bytes are bytes, text or another message. */
export interface Message {
  /** In a sentence: `the contract`. */
  name: string;
  fields: Readonly<Record<number, { name: string; type: 'number' | 'bytes' }>>;
}

/** A message as it was read: fields that are left out are 0 or empty. */
export interface Read {
  number(field: number): bigint;
  bytes(field: number): Uint8Array;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const WIRE_TYPE_BITS = 3n;
const NUMBER_MAX = 2n ** 63n - 1n;
/** Of 64 bits. */
const VARINT_BYTES_MAX = 10;

/**
 * Reads a message in the one form that serializers write: known fields, each once, in ascending order, never with its
 * default value, numbers in their shortest form.
 *
 * @throws BadEncoding
 */
export function readMessage(message: Message, bytes: Uint8Array): Read {
  const found = new Map<number, bigint | Uint8Array>();
  let last = 0;
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(message.name, bytes, at);
    const field = Number(tag.value >> WIRE_TYPE_BITS);
    const wireType = Number(tag.value & 7n);
    const known = message.fields[field];
    if (known === undefined)
      throw new BadEncoding(`${message.name} has the field ${field}, which is not signed`);
    const name = `${known.name} of ${message.name}`;
    if (wireType !== (known.type === 'number' ? VARINT : LENGTH_DELIMITED))
      throw new BadEncoding(`${name} has the wire type ${wireType}`);
    if (field === last) throw new BadEncoding(`${message.name} has a second ${known.name}`);
    if (field < last) throw new BadEncoding(`${name} is out of order`);
    last = field;
    const { value, end } = readVarint(name, bytes, tag.end);
    if (value === 0n) throw new BadEncoding(`${name} is written though it is empty`);
    if (value > NUMBER_MAX) throw new BadEncoding(`${name} is negative or too large`);
    at = known.type === 'number' ? end : end + Number(value);
    if (at > bytes.length) throw new BadEncoding(`${name} ends early`);
    found.set(field, known.type === 'number' ? value : bytes.slice(end, at));
  }
  return {
    number(field) {
      const value = found.get(field) ?? 0n;
      if (typeof value !== 'bigint') throw new TypeError(`field ${field} of ${message.name} is no number`);
      return value;
    },
    bytes(field) {
      const value = found.get(field) ?? new Uint8Array();
      if (typeof value === 'bigint') throw new TypeError(`field ${field} of ${message.name} is a number`);
      return value;
    },
  };
}

function readVarint(name: string, bytes: Uint8Array, start: number): { value: bigint; end: number } {
  let value = 0n;
  for (let at = start; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new BadEncoding(`${name} ends early`);
    const isLast = byte < 0x80;
    if (isLast && byte === 0 && at > start)
      throw new BadEncoding(`${name} has a number that is not in its shortest form`);
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (isLast) return { value, end: at + 1 };
    if (at - start + 1 === VARINT_BYTES_MAX)
      throw new BadEncoding(`${name} has a number of more than 64 bits`);
  }
}

/** Writes fields, which come in ascending order; those with their default value are left out. */
export function writeMessage(
  ...fields: readonly (readonly [field: number, value: bigint | Uint8Array])[]
): Uint8Array {
  return concat(
    ...fields.map(([field, value]) => {
      if (typeof value !== 'bigint')
        return value.length === 0
          ? value
          : concat(tagOf(field, LENGTH_DELIMITED), varint(BigInt(value.length)), value);
      if (value < 0n || value > NUMBER_MAX) throw new RangeError(`field ${field} is negative or too large`);
      return value === 0n ? new Uint8Array() : concat(tagOf(field, VARINT), varint(value));
    }),
  );
}

const tagOf = (field: number, wireType: number) =>
  varint((BigInt(field) << WIRE_TYPE_BITS) | BigInt(wireType));

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Uint8Array.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}
