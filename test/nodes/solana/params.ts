import { type Address, address, getBase58Encoder } from '@solana/kit';
import { invalidParams, RpcError } from './errors.ts';

export type Commitment = 'processed' | 'confirmed' | 'finalized';
export type Params = readonly unknown[];
export type Config = Record<string, unknown>;

const COMMITMENTS = new Map<unknown, Commitment>([
  ['processed', 'processed'],
  ['confirmed', 'confirmed'],
  ['finalized', 'finalized'],
  // What old clients say.
  ['recent', 'processed'],
  ['single', 'confirmed'],
  ['max', 'finalized'],
]);

export function commitmentOf({ commitment = 'finalized' }: Config): Commitment {
  const found = COMMITMENTS.get(commitment);
  if (found === undefined) throw invalidParams(`Invalid params: unknown variant \`${String(commitment)}\`.`);
  return found;
}

/** Of the calls that read history. */
export function committed(config: Config): 'confirmed' | 'finalized' {
  const commitment = commitmentOf(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

export function configAt(params: Params, place: number): Config {
  const value = params[place];
  if (value == null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidParams(`Invalid params: invalid type: ${typeof value}, expected a configuration.`);
  return Object.fromEntries(Object.entries(value));
}

export function textAt(params: Params, place: number): string {
  const value = params[place];
  if (value === undefined) throw invalidParams(`\`params\` should have at least ${place + 1} argument(s)`);
  if (typeof value !== 'string')
    throw invalidParams(`Invalid params: invalid type: ${typeof value}, expected a string.`);
  return value;
}

export function numberAt(params: Params, place: number): number {
  const value = params[place];
  if (value === undefined) throw invalidParams(`\`params\` should have at least ${place + 1} argument(s)`);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalidParams('Invalid params: invalid type, expected u64.');
  return value;
}

export function listAt(params: Params, place: number, most: number): string[] {
  const value = params[place];
  if (!Array.isArray(value)) throw invalidParams('Invalid params: invalid type, expected a sequence.');
  if (value.length > most) throw invalidParams(`Too many inputs provided; max ${most}`);
  return value.map(String);
}

export function readAddress(text: string): Address {
  let size: number;
  try {
    size = getBase58Encoder().encode(text).length;
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
  if (size !== 32) throw invalidParams('Invalid param: WrongSize');
  return address(text);
}

export function readSignature(text: string): string {
  let size: number;
  try {
    size = getBase58Encoder().encode(text).length;
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
  if (size !== 64) throw invalidParams('Invalid param: WrongSize');
  return text;
}

/** A node that has not come so far says so instead of giving an older answer. */
export function heedMinContext({ minContextSlot }: Config, contextSlot: number): void {
  if (typeof minContextSlot === 'number' && minContextSlot > contextSlot)
    throw new RpcError(-32_016, 'Minimum context slot has not been reached', { contextSlot });
}
