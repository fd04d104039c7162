import { answerReader } from '../rpc/read-answers.ts';

// What a node answers is read field by field: anything but the expected form is `ChainUnavailable`.

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{1,100}$/;
const DIGITS = /^(?:0|[1-9][0-9]{0,19})$/;
const U64_MAX = 2n ** 64n - 1n;

export const { unusable, readRecord, readList, readResult, orUnavailable } = answerReader('spl');

/** A number of JSON that is whole and exact: slots, heights and lamports of our accounts are far below 2^53. */
export function readNumber(value: unknown, name: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw unusable(`${name} is not a whole number`);
  return BigInt(value);
}

/** Decimal digits, as amounts of tokens are written. */
export function readDigits(value: unknown, name: string): bigint {
  const number = typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : undefined;
  if (number === undefined || number > U64_MAX) throw unusable(`${name} is not an amount`);
  return number;
}

/** An address, a signature or a hash. */
export function readBase58(value: unknown, name: string): string {
  if (typeof value !== 'string' || !BASE58.test(value)) throw unusable(`${name} is not in base58`);
  return value;
}

/** The bytes of `["…", "base64"]`. */
export function readBase64(value: unknown, name: string): Uint8Array {
  const [text, encoding] = readList(value, name);
  if (typeof text !== 'string' || encoding !== 'base64' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw unusable(`${name} is not in base64`);
  return Uint8Array.from(Buffer.from(text, 'base64'));
}

export interface InContext {
  /** The slot that the answer is as of. */
  slot: bigint;
  value: unknown;
}

export function readContext(answer: unknown, name: string): InContext {
  const { context, value } = readRecord(answer, name);
  if (value === undefined) throw unusable(`${name} has no value`);
  return {
    slot: readNumber(readRecord(context, `the context of ${name}`).slot, `the slot of ${name}`),
    value,
  };
}
