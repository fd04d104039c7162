import { NETWORKS, type Network } from './money.ts';

const PLAIN_ACCOUNTS = [
  'available',
  'held',
  'payout_hold',
  'refund_hold',
  'seized',
  'fees',
  'network_cost',
] as const;
const NETWORK_ACCOUNTS = ['custody', 'custody_hold', 'reorg_loss', 'float', 'kept'] as const;
export type LedgerAccount =
  | (typeof PLAIN_ACCOUNTS)[number]
  | `${(typeof NETWORK_ACCOUNTS)[number]}:${Network}`;

/** Every account of a merchant, the operator's among them. */
export const LEDGER_ACCOUNTS: readonly LedgerAccount[] = [
  ...PLAIN_ACCOUNTS,
  ...NETWORK_ACCOUNTS.flatMap((kind) => NETWORKS.map((network): LedgerAccount => `${kind}:${network}`)),
];
