import { ASSETS, type Asset, NETWORKS } from '@florin/contract/money';
import type { Balance, Balances as BalancesObject, LedgerEntry } from '@florin/contract/schemas';
import { tableOf } from '@florin/contract/tables';
import { encodeId } from '../../tenancy/index.ts';
import type { Account, Balances } from '../accounts.ts';
import { CAUSE_KINDS, type CauseType } from '../causes.ts';
import type { EntryRow } from './queries.ts';

function presentBalance(currency: Asset, balances: ReadonlyMap<Account, bigint>): Balance {
  // Safe: balances are bounded by the supply of the coin, below 2^53.
  const of = (account: Account) => Number(balances.get(account) ?? 0n);
  const perNetwork = (kind: 'custody' | 'custody_hold') =>
    tableOf(NETWORKS, (network) => of(`${kind}:${network}`));
  return {
    currency,
    available: of('available'),
    held: of('held'),
    payout_hold: of('payout_hold'),
    refund_hold: of('refund_hold'),
    seized: of('seized'),
    fees: of('fees'),
    network_cost: of('network_cost'),
    custody: perNetwork('custody'),
    custody_hold: perNetwork('custody_hold'),
  };
}

/** One balance per currency, used or not. */
export function presentBalances(balances: Balances): BalancesObject {
  const none = new Map<Account, bigint>();
  return {
    object: 'balances',
    data: ASSETS.map((asset) => presentBalance(asset, balances.get(asset) ?? none)),
  };
}

/** The public id of a cause: the merchant's own, or ours. */
function causeId(type: CauseType, id: string, names: ReadonlyMap<string, string>): string {
  return type === 'refund' ? (names.get(id) ?? id) : encodeId(CAUSE_KINDS[type], id);
}

/** @param names merchants' own ids of causes, by our ids */
export function presentEntry(row: EntryRow, names: ReadonlyMap<string, string>): LedgerEntry {
  return {
    id: encodeId('ledgerEntry', row.entry_id),
    object: 'ledger_entry',
    journal_id: encodeId('journal', row.journal_id),
    debit: row.debit,
    credit: row.credit,
    currency: row.currency,
    network: row.network,
    amount: Number(row.amount),
    cause: { type: row.cause_type, id: causeId(row.cause_type, row.cause_id, names) },
    created: Number(row.created_at),
  };
}
