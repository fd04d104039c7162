import type { Query, Statement } from './checker.ts';

// Coins by where they lie. $1 are the addresses of strangers, who send what nobody asked for.

/** What strangers sent to a place that no payment gave out, and what of it two people have booked. */
const SURPLUS = `
  select merchant_id, network, currency, sum(sent) as sent, sum(booked) as booked from (
    select t.merchant_id, t.network, t.currency, t.amount as sent, 0 as booked from simchain.transfer t
    where t.sender = any($1::text[]) and t.currency is not null and not exists (select from deposit_address a
      where a.merchant_id = t.merchant_id and a.network = t.network and a.watch = t.recipient)
    union all
    select merchant_id, network, currency, 0, amount from ledger_entry
    where cause_type = 'surplus' and debit like 'float:%'
  ) s group by 1, 2, 3`;

/** The first coins of a chain are the faucet's for the wallet that payouts leave from. */
const COINS_THAT_DIFFER = `
  with books as (
    select merchant_id, split_part(account, ':', 2) as network, currency, sum(balance) as coins from ledger_account
    where split_part(account, ':', 1) in ('custody', 'custody_hold', 'float') group by 1, 2, 3
  ), faucet as (
    select merchant_id, network, sender, recipient from simchain.transfer where number = 1
  ), wallets as (
    select merchant_id, network, recipient as address from faucet
    -- The faucet fills payers' wallets as well.
    union select t.merchant_id, t.network, t.recipient from simchain.transfer t
    join simchain.transaction x using (merchant_id, network, tx_id) join faucet f using (merchant_id, network)
    where x.origin = 'foreign' and t.sender <> f.sender
    union select merchant_id, network, address from transfer where owner_type = 'sweep'
  ), chain as (
    select merchant_id, network, currency, sum(balance) as coins
    from simchain.account join wallets using (merchant_id, network, address) group by 1, 2, 3
  ), surplus as (${SURPLUS})
  select merchant_id, network, currency, b.coins as books, c.coins as chain, s.sent, s.booked
  from books b full join chain c using (merchant_id, network, currency)
    full join surplus s using (merchant_id, network, currency)
  where coalesce(b.coins, 0) + coalesce(s.sent - s.booked, 0) <> coalesce(c.coins, 0)`;

const BOOKED_WITHOUT_COINS = `select * from (${SURPLUS}) s where booked > sent`;

/** A surplus is the operator's: whatever it adds to what lies there, he owes. */
const SURPLUS_OF_A_MERCHANT = `
  select merchant_id, debit, credit, amount from ledger_entry
  where cause_type = 'surplus' and (debit <> 'float:' || network or credit <> 'kept:' || network) and $1::text[] is not null`;

/** At a deposit address lies what was credited there and no sweep took: too much elsewhere makes up for nothing. */
const DEPOSITS_THAT_DIFFER = `
  with credited as (
    select merchant_id, network, address, currency, sum(amount - swept_amount) as coins from payment_transaction
    where status = 'final' and currency is not null and lost_at is null and not pulled group by 1, 2, 3, 4
  ), lies as (
    select a.merchant_id, a.network, a.address, a.currency, a.balance as coins from simchain.account a
    join deposit_address d on d.merchant_id = a.merchant_id and d.network = a.network and d.watch = a.address
  )
  select merchant_id, network, address, currency, c.coins as credited, l.coins as lies
  from credited c full join lies l using (merchant_id, network, address, currency)
  where coalesce(c.coins, 0) <> coalesce(l.coins, 0) and $1::text[] is not null`;

export const COIN_CHECKS: readonly Statement[] = [
  ['I2', 'ledger and chain differ', COINS_THAT_DIFFER],
  ['I2', 'more coins are booked than strangers sent', BOOKED_WITHOUT_COINS],
  ['I2', 'a surplus is booked for somebody', SURPLUS_OF_A_MERCHANT],
  ['I2', 'at a deposit address lies something else than was credited', DEPOSITS_THAT_DIFFER],
];

interface Surplus {
  merchant_id: string;
  network: string;
  currency: string;
  amount: bigint;
}

/** What `ledger verify` calls a surplus has to be what strangers sent and nobody has booked. */
export async function surplusesThatDiffer(
  query: Query,
  strangers: readonly string[],
  found: readonly Surplus[],
): Promise<string[]> {
  const rows = await query<{ network: string; currency: string; rest: string }>(
    `select network, currency, sum(sent - booked)::text as rest from (${SURPLUS}) s group by 1, 2`,
    [strangers],
  );
  const left = new Map(
    rows.map(({ network, currency, rest }) => [`${currency} on ${network}`, -BigInt(rest)]),
  );
  for (const { network, currency, amount } of found) {
    const place = `${currency} on ${network}`;
    left.set(place, (left.get(place) ?? 0n) + amount);
  }
  return [...left].flatMap(([place, rest]) =>
    rest === 0n ? [] : [`of surpluses in ${place}, verify finds ${rest} more than strangers sent`],
  );
}
