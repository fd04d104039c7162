import Type, { type TObject, type TProperties } from 'typebox';
import { readAddress, ZERO_ADDRESS } from './address.ts';
import { SignerMistake } from './mistake.ts';

const DECIMALS = 6;

/** An object without other keys. */
export const closed = <const P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });

export const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'an address: 0x and 40 hex digits in quotes',
});

export const Money = Type.String({
  pattern: `^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,${DECIMALS}})?$`,
  description: 'an amount in quotes, such as "5000.00"',
});
const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
/** Merchants by account. */
export const AccountNames = Type.Record(Type.String({ pattern: '^[1-9][0-9]{0,9}$' }), Uuid);

/** So much of a network's own coin, in its smallest unit. */
export const coins = (unit: 'wei' | 'sun' | 'lamports') =>
  Type.String({ pattern: '^(?:0|[1-9][0-9]{0,29})$', description: `${unit} in digits, in quotes` });

/** A policy says it in this way only: the place of the mistake, and what to do. */
export const mistake = (line: string) => new SignerMistake('policy', `the policy: ${line}`);

/** `12.34` → 12,340,000. */
export function unitsOf(money: string): bigint {
  const [whole = '0', fraction = ''] = money.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

/** @throws SignerMistake where one is above the other */
export function checkOrder(
  at: string,
  text: Readonly<Record<string, unknown>>,
  read: (text: string) => bigint,
  ...names: readonly string[]
): void {
  for (const [i, larger] of names.slice(1).entries()) {
    const smaller = names[i] ?? larger;
    if (read(String(text[smaller])) > read(String(text[larger])))
      throw mistake(`${at}.${smaller} is above ${at}.${larger}, which it can then never reach.`);
  }
}

/** @throws SignerMistake */
export function merchantsOf(
  text: Record<string, string> | undefined,
  at: string,
): ReadonlyMap<number, string> | null {
  if (text === undefined) return null;
  const accounts = new Map(Object.entries(text).map(([account, merchant]) => [Number(account), merchant]));
  if (new Set(accounts.values()).size < accounts.size) throw mistake(`${at} names a merchant twice.`);
  return accounts;
}

/** @throws SignerMistake */
export function addressIn(text: string, at: string): string {
  const address = readAddress(text);
  if (address === undefined) throw mistake(`${at} has a wrong checksum: copy it again.`);
  if (address === ZERO_ADDRESS) throw mistake(`${at} is the zero address.`);
  return address;
}
