import { tronOfAccount } from '@florin/signer/tron';
import { ChainUnavailable } from '../port/port-errors.ts';
import { answerReader } from '../rpc/read-answers.ts';

// What a node answers is read field by field: anything but the expected form is `ChainUnavailable`.

const HEX = /^(?:[0-9a-f]{2})*$/i;
const ACCOUNT_HEX = 40;

export const { unusable, readRecord, readList, orUnavailable, readResult } = answerReader('trc20');

/** What one endpoint of several says; undefined where it cannot be read: that counts as no answer. */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ChainUnavailable) return undefined;
    throw error;
  }
}

/** A whole number of JSON. A field that is 0 is left out. */
export function readNumber(value: unknown, name: string): bigint {
  if (value === undefined) return 0n;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw unusable(`${name} is not a whole number`);
  return BigInt(value);
}

/** In lower case, without `0x`. @param size in bytes; undefined: any */
export function readHex(value: unknown, name: string, size?: number): string {
  const isHex = typeof value === 'string' && HEX.test(value);
  if (!isHex || (size !== undefined && value.length !== 2 * size))
    throw unusable(`${name} is not ${size ?? 'a number of'} bytes`);
  return value.toLowerCase();
}

/** The address in a word of 32 bytes, as contracts log it. */
export function readAddressWord(value: unknown, name: string): string {
  return tronOfAccount(`0x${readHex(value, name, 32).slice(-ACCOUNT_HEX)}`);
}

export function readWord(value: unknown, name: string): bigint {
  return BigInt(`0x${readHex(value, name, 32)}`);
}

/** What a node does not have is an object without fields. */
export function isNothing(answer: unknown): boolean {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    !Array.isArray(answer) &&
    Object.keys(answer).length === 0
  );
}
