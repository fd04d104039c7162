import type { Asset, Network } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { deferred, listed, prepared } from '../platform/db/statements/index.ts';
import { invariant } from '../platform/fail.ts';
import { type Account, debitSign, mayOverdraw } from './accounts.ts';
import type { CauseType } from './causes.ts';
import './tables.ts';

// Invariant: every row moves one amount from a credit to a debit account, so a journal sums to zero by construction;
// a balance is the sum of its rows and never below its floor. Rows and balances change in the same transaction, the
// balances locked in one order (account, currency), so that two journals cannot deadlock.

/** One transfer of value inside the ledger. */
export interface Posting {
  debit: Account;
  credit: Account;
  currency: Asset;
  network: Network | null;
  /** Smallest unit, above 0. */
  amount: bigint;
  cause: { type: CauseType; id: string };
}

/** What takes journals back: each amount moves the other way. */
export function reversed(postings: readonly Posting[]): Posting[] {
  return postings.map((posting) => ({ ...posting, debit: posting.credit, credit: posting.debit }));
}

/** An account would fall below its floor. The failed statement has booked nothing. */
export class BelowFloor extends Error {
  readonly account: Account;
  constructor(account: Account) {
    super(`${account} does not cover the amount`);
    this.account = account;
  }
}

/** Below any possible sum: a float is bounded by its currency's supply, not by this. */
const FLOAT_FLOOR = -(10n ** 18n);

interface BalanceChange {
  account: Account;
  currency: Asset;
  delta: bigint;
}

/** The changes of accounts by a journal, in lock order. */
export function changesOf(postings: readonly Posting[]): BalanceChange[] {
  const totals = new Map<string, BalanceChange>();
  const add = (account: Account, currency: Asset, delta: bigint) => {
    const key = `${account} ${currency}`;
    const known = totals.get(key);
    totals.set(key, { account, currency, delta: (known?.delta ?? 0n) + delta });
  };
  for (const { debit, credit, currency, amount } of postings) {
    add(debit, currency, debitSign(debit) * amount);
    add(credit, currency, -debitSign(credit) * amount);
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

/**
 * Books a journal: its rows and its balances, in the caller's transaction.
 *
 * @throws BelowFloor when an account does not cover it; the caller must roll back, as earlier accounts have changed
 */
export async function post(
  tx: Tx,
  merchantId: string,
  postings: readonly Posting[],
  nowSeconds: number,
): Promise<void> {
  await postAll(tx, merchantId, [postings], nowSeconds);
}

/**
 * Books several journals and changes each balance once.
 *
 * @throws BelowFloor as `post`
 */
export async function postAll(
  tx: Tx,
  merchantId: string,
  journals: readonly (readonly Posting[])[],
  nowSeconds: number,
): Promise<void> {
  const postings = journals.flat();
  if (postings.length === 0) return;
  for (const { amount, debit, credit } of postings) {
    invariant(
      amount > 0n && debit !== credit,
      `a posting moves an amount above 0 (${debit} → ${credit}: ${amount})`,
    );
  }
  const changes = changesOf(postings);
  if (!changes.some(needsCover))
    return await insertEntries(tx, merchantId, journals, { changes, nowSeconds });
  for (const change of changes) await applyChange(tx, merchantId, change);
  await insertEntries(tx, merchantId, journals, { changes: [], nowSeconds });
}

/** Whether a change may violate the floor of its account. */
const needsCover = ({ account, delta }: BalanceChange) => delta < 0n && !mayOverdraw(account);

/**
 * Checks and changes a balance in one statement, whose row lock holds until commit. A balance that would fall below its
 * floor changes no row, so that the caller's transaction stays usable.
 */
async function applyChange(tx: Tx, merchantId: string, change: BalanceChange): Promise<void> {
  const { account, currency, delta } = change;
  if (needsCover(change)) {
    const { numAffectedRows } = await prepared`
      update ledger_account set balance = balance + ${delta}
      where merchant_id = ${merchantId} and account = ${account} and currency = ${currency}
        and balance + ${delta} >= floor`.execute(tx);
    if (numAffectedRows === 0n) throw new BelowFloor(account);
    return;
  }
  await deferred`${addChanges(merchantId, [change])}`.execute(tx);
}

/** Changes that cannot violate a floor, locked in the given order. */
function addChanges(merchantId: string, changes: readonly BalanceChange[]): RawBuilder<unknown> {
  const changed = listed('c', changes, {
    account: ['text', (c) => c.account],
    currency: ['text', (c) => c.currency],
    delta: ['bigint', (c) => c.delta],
    floor: ['bigint', (c) => (mayOverdraw(c.account) ? FLOAT_FLOOR : 0n)],
  });
  return sql`
    insert into ledger_account as a (merchant_id, account, currency, balance, floor)
    select ${merchantId}::uuid, c.* from ${changed}
    on conflict (merchant_id, account, currency) do update set balance = a.balance + excluded.balance`;
}

/** @param changes balance changes to make in the same statement */
async function insertEntries(
  tx: Tx,
  merchantId: string,
  journals: readonly (readonly Posting[])[],
  { changes, nowSeconds }: { changes: readonly BalanceChange[]; nowSeconds: number },
): Promise<void> {
  const postings = journals.flatMap((journal) => {
    const journalId = newId();
    return journal.map((posting) => ({ ...posting, journalId }));
  });
  const entries = listed('e', postings, {
    entry_id: ['uuid', () => newId()],
    journal_id: ['uuid', (p) => p.journalId],
    debit: ['text', (p) => p.debit],
    credit: ['text', (p) => p.credit],
    currency: ['text', (p) => p.currency],
    network: ['text', (p) => p.network],
    amount: ['bigint', (p) => p.amount],
    cause_type: ['text', (p) => p.cause.type],
    cause_id: ['uuid', (p) => p.cause.id],
  });
  const changed = changes.length === 0 ? sql`` : sql`with changed as (${addChanges(merchantId, changes)})`;
  await deferred`${changed}
    insert into ledger_entry (merchant_id, entry_id, journal_id, debit, credit, currency, network, amount,
                              cause_type, cause_id, created_at)
    select ${merchantId}::uuid, e.*, ${nowSeconds}::bigint from ${entries}`.execute(tx);
}
