import {
  AMOUNT_LENGTH_MAX,
  formatAmount,
  NON_NEGATIVE_AMOUNT_PATTERN,
  parseNonNegativeAmount,
} from '@florin/contract/money';
import { sql } from 'kysely';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { readLoaderPerPool } from '../../platform/db/loaders/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
import { Fail } from '../../platform/fail.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    setting: { merchant_id: string; name: string; value: unknown };
  }
}

export type MerchantMode = 'sandbox' | 'live';

/** A setting that an operator may change for the installation or for one merchant; owned by its module. */
export interface Setting<T> {
  /** `module.name`. */
  name: string;
  description: string;
  fallback(mode: MerchantMode): T;
  /** Parses the stored or typed form. @throws Fail whose message names the allowed values */
  read(value: unknown): T;
  /** Converts to the stored and shown form. */
  write(value: T): string | number | boolean | string[];
}

/** 10^15 units are 10^9 coins: sums of 200 such amounts still fit an int8. */
const MONEY_MAX = 10n ** 15n;
const AMOUNT_FORM = new RegExp(NON_NEGATIVE_AMOUNT_PATTERN);
const isAmount = (text: string) => text.length <= AMOUNT_LENGTH_MAX && AMOUNT_FORM.test(text);
const refuse = (name: string, what: string) =>
  new Fail('invalid_request', { message: `${name} must be ${what}.`, param: name });

interface Definition<T> {
  name: string;
  description: string;
  fallback: T | Record<MerchantMode, T>;
}

const isByMode = <T>(fallback: T | Record<MerchantMode, T>): fallback is Record<MerchantMode, T> =>
  typeof fallback === 'object' && fallback !== null && 'sandbox' in fallback;

const byMode =
  <T>(fallback: T | Record<MerchantMode, T>) =>
  (mode: MerchantMode): T =>
    isByMode(fallback) ? fallback[mode] : fallback;

/** An amount of money such as `"10000.00"`, as integer units of 6 digits. */
export function moneySetting(definition: Definition<string>): Setting<bigint> {
  const fallback = byMode(definition.fallback);
  const read = (value: unknown) => {
    const text = String(value);
    if (!isAmount(text)) throw refuse(definition.name, 'an amount such as 10000.00');
    const units = parseNonNegativeAmount(text);
    if (units > MONEY_MAX) throw refuse(definition.name, `at most ${formatAmount(MONEY_MAX)}`);
    return units;
  };
  return { ...definition, fallback: (mode) => read(fallback(mode)), read, write: formatAmount };
}

/** An amount of money as above, or one of the given words. */
export function moneyOrWordSetting<const Word extends string>(
  definition: Definition<string> & { words: readonly Word[] },
): Setting<bigint | Word> {
  const money = moneySetting({ ...definition, fallback: '0.00' });
  const fallback = byMode(definition.fallback);
  const read = (value: unknown): bigint | Word => {
    const word = definition.words.find((known) => known === value);
    if (word !== undefined) return word;
    if (!isAmount(String(value)))
      throw refuse(definition.name, `an amount such as 10000.00, or ${definition.words.join(' or ')}`);
    return money.read(value);
  };
  return {
    ...definition,
    fallback: (mode) => read(fallback(mode)),
    read,
    write: (value) => (typeof value === 'bigint' ? formatAmount(value) : value),
  };
}

export function integerSetting(
  definition: Definition<number> & { min: number; max: number },
): Setting<number> {
  const { min, max } = definition;
  return {
    ...definition,
    fallback: byMode(definition.fallback),
    read: (value) => {
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
      if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
        return number;
      throw refuse(definition.name, `a whole number from ${min} to ${max}`);
    },
    write: (value) => value,
  };
}

export function flagSetting(definition: Definition<boolean>): Setting<boolean> {
  return {
    ...definition,
    fallback: byMode(definition.fallback),
    read: (value) => {
      if (value === true || value === 'true') return true;
      if (value === false || value === 'false') return false;
      throw refuse(definition.name, 'true or false');
    },
    write: (value) => value,
  };
}

/** Which words a list may hold: those of a given set, or up to `max` that have a form. `what` follows "must be". */
type Words =
  | { allowed: readonly string[] }
  | { isAllowed: (word: string) => boolean; max: number; what: string };

/** A list of words, typed as `a,b`; an empty text is an empty list. */
export function listSetting(definition: Definition<string[]> & Words): Setting<string[]> {
  const { isAllowed, max, what } =
    'allowed' in definition
      ? {
          isAllowed: (word: string) => definition.allowed.includes(word),
          max: Number.POSITIVE_INFINITY,
          what: `a list of ${definition.allowed.join(', ')}`,
        }
      : definition;
  return {
    ...definition,
    fallback: byMode(definition.fallback),
    read: (value) => {
      const words = Array.isArray(value) ? value.map(String) : String(value).split(',').filter(Boolean);
      if (words.length <= max && words.every(isAllowed)) return [...new Set(words)];
      throw refuse(definition.name, what);
    },
    write: (value) => value,
  };
}

type Values<S extends Record<string, Setting<unknown>>> = {
  [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

interface Row {
  merchant_id: string;
  name: string;
  value: unknown;
}

async function readRows(db: Db, merchantId: string, names: readonly string[]): Promise<Row[]> {
  const { rows } = await prepared<Row>`
    select merchant_id, name, value from setting
    where merchant_id = any(${[merchantId, NIL_ID]}::uuid[]) and name = any(${names}::text[])`.execute(db);
  return rows;
}

/** Jobs of a merchant that begin together share one read of its settings. */
const reads = readLoaderPerPool<readonly string[], Row[]>((db) => async (merchantId, keys) => {
  const rows = await readRows(db, merchantId, [...new Set(keys.flat())]);
  return keys.map(() => rows);
});

/** The merchant's values: its own, else the installation's, else the default of its mode. One statement. */
export async function readSettings<S extends Record<string, Setting<unknown>>>(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  settings: S,
): Promise<Values<S>> {
  const names = Object.values(settings).map((setting) => setting.name);
  const rows = db.isTransaction
    ? await readRows(db, merchant.merchantId, names)
    : await reads(db).load(merchant.merchantId, names);
  const entries = Object.entries(settings).map(([key, setting]) => {
    const own = rows.find((row) => row.name === setting.name && row.merchant_id === merchant.merchantId);
    const row = own ?? rows.find((candidate) => candidate.name === setting.name);
    return [key, row === undefined ? setting.fallback(merchant.mode) : setting.read(row.value)];
  });
  return Object.fromEntries(entries);
}

/** Stores a value for a merchant, or for the installation with the nil id. @throws Fail for a value out of range */
export async function writeSetting(
  db: Db,
  merchantId: string,
  setting: Setting<unknown>,
  value: unknown,
): Promise<void> {
  const stored = JSON.stringify(setting.write(setting.read(value)));
  await sql`
    insert into setting (merchant_id, name, value) values (${merchantId}, ${setting.name}, ${stored}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** Changes a merchant's value by its present one; concurrent changes wait for each other. @returns the new value */
export async function changeSetting<T>(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  setting: Setting<T>,
  change: (value: T) => T,
): Promise<T> {
  const { merchantId } = merchant;
  return await transact(db, async (tx) => {
    await sql`select from setting where merchant_id = ${merchantId} and name = ${setting.name} for update`.execute(
      tx,
    );
    const { value } = await readSettings(tx, merchant, { value: setting });
    const next = change(value);
    await writeSetting(tx, merchantId, setting, setting.write(next));
    return next;
  });
}

/** Resets a setting to its default. */
export async function clearSetting(db: Db, merchantId: string, setting: Setting<unknown>): Promise<void> {
  await db
    .deleteFrom('setting')
    .where('merchant_id', '=', merchantId)
    .where('name', '=', setting.name)
    .execute();
}

/** Which settings have a value of the installation's, and how many merchants have one of their own. */
export async function listStored(db: Db): Promise<{ name: string; isOfAll: boolean; merchants: number }[]> {
  const { rows } = await sql<{ name: string; is_of_all: boolean; merchants: bigint }>`
    select name, bool_or(merchant_id = ${NIL_ID}) as is_of_all,
      count(*) filter (where merchant_id <> ${NIL_ID}) as merchants
    from setting group by name`.execute(db);
  return rows.map(({ name, is_of_all: isOfAll, merchants }) => ({
    name,
    isOfAll,
    merchants: Number(merchants),
  }));
}
