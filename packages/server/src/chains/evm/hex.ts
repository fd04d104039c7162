import { ChainUnavailable } from '../port-errors.ts';

// Fields of a node's answers. A node that gives something else cannot be used, whatever else it says.

export type Json = Record<string, unknown>;

/** @throws ChainUnavailable */
function unusable(what: string): ChainUnavailable {
  return new ChainUnavailable('erc20', `a node's answer cannot be used: ${what}`);
}

export function asObject(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw unusable(`${what} is no object`);
}

export function asList(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw unusable(`${what} is no list`);
}

/** A quantity of at most 32 bytes. */
export function asQuantity(value: unknown, what: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value);
  throw unusable(`${what} is no quantity`);
}

/** Small hex with 0x. @param bytes undefined: any number */
export function asBytes(value: unknown, what: string, bytes?: number): string {
  if (typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value)) {
    if (bytes === undefined || value.length === 2 + 2 * bytes) return value.toLowerCase();
  }
  throw unusable(`${what} is not ${bytes ?? 'a number of'} bytes`);
}

export function toQuantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
