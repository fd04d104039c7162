import type { Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { cursorOf, type Page, readByCreation } from '../../platform/db/lists/index.ts';
import { type Account, type Balances, debitSign } from '../accounts.ts';
import '../tables.ts';

/** All balances of a merchant, in one snapshot. */
export async function readBalances(db: Db, merchantId: string): Promise<Balances> {
  const rows = await db
    .selectFrom('ledger_account')
    .select(['account', 'currency', 'balance'])
    .where('merchant_id', '=', merchantId)
    .execute();
  const balances = new Map<Asset, Map<Account, bigint>>();
  for (const { account, currency, balance } of rows) {
    const ofCurrency = balances.get(currency) ?? new Map<Account, bigint>();
    balances.set(currency, ofCurrency.set(account, balance));
  }
  return balances;
}

/** Locks a balance and returns it. */
export async function lockBalance(
  tx: Tx,
  merchantId: string,
  { account, currency }: { account: Account; currency: Asset },
): Promise<bigint> {
  const row = await tx
    .selectFrom('ledger_account')
    .select('balance')
    .where('merchant_id', '=', merchantId)
    .where('account', '=', account)
    .where('currency', '=', currency)
    .forUpdate()
    .executeTakeFirst();
  return row?.balance ?? 0n;
}

/** Whether anything was booked for the cause. */
export async function isCauseBooked(db: Db, merchantId: string, causeId: string): Promise<boolean> {
  const { rows } = await sql`
    select from ledger_entry where merchant_id = ${merchantId} and cause_id = ${causeId} limit 1`.execute(db);
  return rows.length > 0;
}

export interface EntryFilter extends Page<string> {
  currency?: Asset | undefined;
  account?: Account | undefined;
  /** Entries of any of these causes. */
  causeIds?: readonly string[] | undefined;
}

/** In the order of their creation; `limit + 1` rows, to show whether there are more. */
export async function listEntries(db: Db, merchantId: string, filter: EntryFilter) {
  const { currency, account, causeIds } = filter;
  let query = db.selectFrom('ledger_entry').selectAll().where('merchant_id', '=', merchantId);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (causeIds !== undefined) query = query.where('cause_id', '=', sql<string>`any(${causeIds}::uuid[])`);
  if (account !== undefined) {
    query = query.where((e) => e.or([e('debit', '=', account), e('credit', '=', account)]));
  }
  const after = await cursorOf(filter.after, (id) => findEntry(db, merchantId, id));
  return await readByCreation(query, 'entry_id', { ...filter, after });
}
export type EntryRow = Awaited<ReturnType<typeof listEntries>>[number];

async function findEntry(db: Db, merchantId: string, entryId: string) {
  return await db
    .selectFrom('ledger_entry')
    .select(['created_at', 'entry_id'])
    .where('merchant_id', '=', merchantId)
    .where('entry_id', '=', entryId)
    .executeTakeFirst();
}

/** Balances summed from the entries, which the stored ones must equal. */
export async function recomputeBalances(db: Db, merchantId: string): Promise<Balances> {
  const { rows } = await sql<{ account: Account; currency: Asset; debits: string; credits: string }>`
    select account, currency, sum(debit)::text as debits, sum(credit)::text as credits
    from (
      select debit as account, currency, amount as debit, 0 as credit from ledger_entry where merchant_id = ${merchantId}
      union all
      select credit, currency, 0, amount from ledger_entry where merchant_id = ${merchantId}
    ) as side
    group by account, currency`.execute(db);
  const balances = new Map<Asset, Map<Account, bigint>>();
  for (const { account, currency, debits, credits } of rows) {
    const ofCurrency = balances.get(currency) ?? new Map<Account, bigint>();
    const balance = debitSign(account) * (BigInt(debits) - BigInt(credits));
    balances.set(currency, ofCurrency.set(account, balance));
  }
  return balances;
}

/** Sum of the entries from one account into another, for one asset and network. */
export async function sumOfEntries(
  db: Db,
  merchantId: string,
  flow: { debit: Account; credit: Account; currency: Asset },
): Promise<bigint> {
  const { rows } = await sql<{ total: string | null }>`
    select sum(amount)::text as total from ledger_entry
    where merchant_id = ${merchantId} and currency = ${flow.currency}
      and debit = ${flow.debit} and credit = ${flow.credit}`.execute(db);
  return BigInt(rows[0]?.total ?? 0);
}
