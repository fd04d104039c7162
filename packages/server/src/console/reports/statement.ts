import type { Asset, Network } from '@florin/contract/money';
import { keysOf } from '@florin/contract/tables';
import { type Account, type Balances, debitSign, isOperatorAccount } from '../../ledger/index.ts';
import { totalOf } from '../../platform/amounts.ts';

// What a merchant's accounts held before a period, what moved them in it, and what they held after it. Without I/O: an
// account's opening balance is the closing one less the movements that are listed, so the three always agree.

/** Why money moved, in the order of a statement. */
const KINDS = {
  payment: 'Payments',
  subscription: 'Payments of subscriptions',
  seizure: 'Seized, or given back, by the screening of senders',
  refund: 'Refunds',
  payout: 'Payouts',
  fee: 'Service fees',
  fund: 'Coins of the sandbox',
  correction: 'Corrections by the operator',
} as const;
export type MovementKind = keyof typeof KINDS;
export const MOVEMENT_KINDS = keysOf(KINDS);

/** Entries of the ledger that agree in all but their time and cause, summed up. */
export interface Flow {
  debit: Account;
  credit: Account;
  currency: Asset;
  network: Network | null;
  causeType: string;
  /** Caused by a payment of an invoice. */
  isOfInvoice: boolean;
  /** In the period; else behind it. */
  isWithin: boolean;
  entries: number;
  amount: bigint;
}

/** All of one kind that moved an account. */
export interface Movement {
  kind: MovementKind;
  network: Network | null;
  entries: number;
  increase: bigint;
  decrease: bigint;
}

export interface AccountStatement {
  account: Account;
  currency: Asset;
  opening: bigint;
  movements: Movement[];
  closing: bigint;
}

function kindOf({ causeType, debit, credit, isOfInvoice }: Flow): MovementKind {
  const touches = (account: Account) => debit === account || credit === account;
  switch (causeType) {
    case 'payment':
      if (touches('seized')) return 'seizure';
      return isOfInvoice ? 'subscription' : 'payment';
    case 'payout_batch':
    case 'payout_item':
      return touches('fees') ? 'fee' : 'payout';
    case 'refund':
      return 'refund';
    case 'fund':
      return 'fund';
    default:
      return 'correction';
  }
}

/** What a flow adds to an account: below 0, what it takes. */
const changeBy = ({ debit, amount }: Flow, account: Account): bigint =>
  debitSign(account) * (debit === account ? amount : -amount);

/** The movements of an account, one for each kind and network. */
function movementsOf(account: Account, flows: readonly Flow[]): Movement[] {
  const byKind = Map.groupBy(flows, (flow) => `${MOVEMENT_KINDS.indexOf(kindOf(flow))} ${flow.network}`);
  return [...byKind]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, alike]) => {
      const [first] = alike;
      if (first === undefined) return [];
      const changes = alike.map((flow) => changeBy(flow, account));
      return {
        kind: kindOf(first),
        network: first.network,
        entries: alike.reduce((count, { entries }) => count + entries, 0),
        increase: totalOf(changes.filter((change) => change > 0n)),
        decrease: -totalOf(changes.filter((change) => change < 0n)),
      };
    });
}

/**
 * The statement of each of a merchant's accounts that held or moved something. The operator's own accounts are left out.
 *
 * @param balances of now, read in the same snapshot as the flows
 * @param flows of all entries since the period began
 */
export function statementsOf(balances: Balances, flows: readonly Flow[]): AccountStatement[] {
  const statements: AccountStatement[] = [];
  for (const [currency, accounts] of balances) {
    for (const [account, balance] of accounts) {
      if (isOperatorAccount(account)) continue;
      const own = flows.filter(
        (flow) => flow.currency === currency && (flow.debit === account || flow.credit === account),
      );
      const sumOf = (some: readonly Flow[]) =>
        some.reduce((total, flow) => total + changeBy(flow, account), 0n);
      const within = own.filter(({ isWithin }) => isWithin);
      const closing = balance - sumOf(own.filter(({ isWithin }) => !isWithin));
      const opening = closing - sumOf(within);
      if (within.length === 0 && closing === 0n) continue;
      statements.push({ account, currency, opening, movements: movementsOf(account, within), closing });
    }
  }
  return statements;
}
