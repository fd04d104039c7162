import { LEDGER_ACCOUNTS } from '@florin/contract/ledger-accounts';
import { type Asset, NETWORKS, type Network } from '@florin/contract/money';

/** Liabilities towards the merchant; credits increase them. */
export const OWED_ACCOUNTS = ['available', 'held', 'payout_hold', 'refund_hold', 'seized', 'fees'] as const;
/** The merchant's coins on a network; debits increase them. */
export const COIN_ACCOUNTS = ['custody', 'custody_hold'] as const;
/**
 * The operator's accounts, per network; not part of a merchant's balances. `reorg_loss`: coins that reorganisations took ·
 * `float`: the operator's own coins that make up for them · `kept`: seized money, owed to its rightful owner.
 */
export const OPERATOR_ACCOUNTS = ['reorg_loss', 'float', 'kept'] as const;

/** Whether an account is the operator's. */
export function isOperatorAccount(account: Account): boolean {
  return OPERATOR_ACCOUNTS.some((kind) => account.startsWith(`${kind}:`));
}

type PerNetwork<A extends string> = `${A}:${Network}`;
export type OwedAccount = (typeof OWED_ACCOUNTS)[number];
export type CoinAccount = PerNetwork<(typeof COIN_ACCOUNTS)[number]>;
export type Account =
  | OwedAccount
  | CoinAccount
  | PerNetwork<(typeof OPERATOR_ACCOUNTS)[number]>
  | 'network_cost';

const DEBIT_NORMAL = new Set(['custody', 'custody_hold', 'network_cost', 'reorg_loss', 'float']);
const kindOf = (account: string) => account.split(':', 1)[0] ?? account;

/** +1 where a debit increases the account, -1 where a credit does. */
export function debitSign(account: Account): 1n | -1n {
  return DEBIT_NORMAL.has(kindOf(account)) ? 1n : -1n;
}

/** Whether an account may be below zero; only `float` may, until the operator fills it up. */
export function mayOverdraw(account: Account): boolean {
  return kindOf(account) === 'float';
}

/** Every account that exists for a merchant and currency. */
export const ALL_ACCOUNTS: readonly Account[] = LEDGER_ACCOUNTS;

export type Balances = ReadonlyMap<Asset, ReadonlyMap<Account, bigint>>;

/**
 * The difference between what is owed and the coins on the networks, for one asset.
 *
 * @returns owed minus coins; must be 0
 */
export function imbalance(balances: ReadonlyMap<Account, bigint>): bigint {
  const sum = (accounts: readonly Account[]) =>
    accounts.reduce((total, account) => total + (balances.get(account) ?? 0n), 0n);
  const coins = COIN_ACCOUNTS.flatMap((kind) => NETWORKS.map((network): Account => `${kind}:${network}`));
  return sum(OWED_ACCOUNTS) - sum(coins);
}

/** All coins of a merchant on a network, reserved or not. */
export function coinsOn(balances: ReadonlyMap<Account, bigint> | undefined, network: Network): bigint {
  return COIN_ACCOUNTS.reduce((sum, kind) => sum + (balances?.get(`${kind}:${network}`) ?? 0n), 0n);
}
