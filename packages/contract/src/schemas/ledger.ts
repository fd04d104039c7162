import Type, { type Static } from 'typebox';
import { LEDGER_ACCOUNTS } from '../ledger-accounts.ts';
import { CLOSED, Currency, ListOf, Network, OrNull, PAGE_QUERY, Seconds, Units } from './shared.ts';

const PerNetwork = (what: string) =>
  Type.Object(
    {
      erc20: Units(`${what} on Ethereum`),
      trc20: Units(`${what} on Tron`),
      spl: Units(`${what} on Solana`),
    },
    CLOSED,
  );

export const Balance = Type.Object(
  {
    currency: Currency,
    available: Units('What the merchant may spend'),
    held: Units('Received, not yet decided'),
    payout_hold: Units('Reserved by payouts'),
    refund_hold: Units('Reserved by refunds'),
    seized: Units('From sanctioned senders, undecided'),
    fees: Units('Service fees charged'),
    network_cost: Units('Network fees paid in this currency'),
    custody: PerNetwork('Money that is free to send,'),
    custody_hold: PerNetwork('What is reserved to be sent or seized'),
  },
  { ...CLOSED, $id: 'Balance' },
);
export type Balance = Static<typeof Balance>;

export const Balances = Type.Object(
  { object: Type.Literal('balances'), data: Type.Array(Balance) },
  { ...CLOSED, $id: 'Balances' },
);
export type Balances = Static<typeof Balances>;

export const LedgerEntry = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('ledger_entry'),
    journal_id: Type.String({ description: 'Groups the entries of one change.' }),
    debit: Type.String({ description: 'Account debited, such as available or custody:erc20.' }),
    credit: Type.String({ description: 'Account credited.' }),
    currency: Currency,
    network: OrNull(Network),
    amount: Units('What moved'),
    cause: Type.Object({ type: Type.String(), id: Type.String() }, CLOSED),
    created: Seconds('When it was booked'),
  },
  { ...CLOSED, $id: 'LedgerEntry' },
);
export type LedgerEntry = Static<typeof LedgerEntry>;

export const LedgerEntryList = ListOf('LedgerEntryList', LedgerEntry);

export const LedgerEntryQuery = Type.Object(
  {
    currency: Type.Optional(Currency),
    account: Type.Optional(
      Type.Enum([...LEDGER_ACCOUNTS], { description: 'Entries that debit or credit this account.' }),
    ),
    cause: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Id of the resource that caused the entries.',
      }),
    ),
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type LedgerEntryQuery = Static<typeof LedgerEntryQuery>;
