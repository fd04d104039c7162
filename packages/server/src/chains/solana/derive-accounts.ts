import { setImmediate as nextTurn } from 'node:timers/promises';
import { tokenAccountOf } from '@florin/signer/solana';
import { slicesOf } from '../rpc/slices.ts';

/** Durable, for the deposit addresses of a merchant. */
export interface TokenAccounts {
  /** Owner → its account, of those that are known. */
  find(owners: readonly string[], mint: string): Promise<ReadonlyMap<string, string>>;
  /** One that is known stays as it is. */
  save(accounts: ReadonlyMap<string, string>, mint: string): Promise<void>;
}

/** Each takes up to a millisecond; everything else of the process goes on after so many. */
const DERIVED_PER_TURN = 20;
/** So many are saved at once: a scan that ends early has not derived them for nothing. */
const SAVED_TOGETHER = 500;

/**
 * The accounts in which these owners hold a token. Those that are not known are derived, a few in one turn of the process.
 *
 * @param save whether the owners are asked for again and again, as deposit addresses are: they are derived once, for ever
 * @returns owner → account
 */
export async function tokenAccountsOf(
  known: TokenAccounts,
  { owners, mint, save }: { owners: readonly string[]; mint: string; save: boolean },
): Promise<Map<string, string>> {
  const unique = [...new Set(owners)];
  const accounts = new Map(await known.find(unique, mint));
  const missing = unique.filter((owner) => !accounts.has(owner));
  for (const part of slicesOf(missing, SAVED_TOGETHER)) {
    const derived = await derive(part, mint);
    if (save) await known.save(derived, mint);
    for (const [owner, account] of derived) accounts.set(owner, account);
  }
  return accounts;
}

async function derive(owners: readonly string[], mint: string): Promise<Map<string, string>> {
  const accounts = new Map<string, string>();
  for (const [place, part] of slicesOf(owners, DERIVED_PER_TURN).entries()) {
    if (place > 0) await nextTurn();
    for (const owner of part) accounts.set(owner, tokenAccountOf(owner, mint));
  }
  return accounts;
}
