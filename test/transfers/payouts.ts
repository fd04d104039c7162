import type { Network } from '@florin/contract/money';
import { expect } from 'vitest';
import type { SimulatedChain } from '../../packages/server/src/chains/index.ts';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { fund } from '../../packages/server/src/sandbox/fund.ts';
import { findMerchant } from '../../packages/server/src/stores/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner } from '../ledger.ts';
import type { TestMerchant, TestService } from '../service.ts';

export const NETWORKS = ['erc20', 'trc20', 'spl'] as const;
const FUNDS = 1_000_000_000_000;

/** A merchant with coins on one network and one submitted batch. */
export interface Payout {
  merchant: TestMerchant;
  batchId: string;
  network: Network;
  chain: SimulatedChain;
}

export interface Item {
  to: 'succeed' | 'fail' | 'stuck' | 'risk_rejected';
  /** Every item of a payout has another amount, so that a movement on the chain identifies its item. */
  amount: string;
}

const TWO_GOOD_ONE_BAD: Item[] = [
  { to: 'succeed', amount: '10.00' },
  { to: 'fail', amount: '5.50' },
  { to: 'succeed', amount: '1.25' },
];

export async function newMerchant(service: TestService, network: Network): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ funds: 0n });
  const row = await findMerchant(service.app.db, merchant.merchantId);
  if (row === undefined) throw new Error('the merchant is not there');
  await fund(service.app, row, { currency: 'USDT', network, amount: FUNDS });
  return merchant;
}

export async function submitItems(
  service: TestService,
  merchant: TestMerchant,
  { network, items }: { network: Network; items: readonly Item[] },
): Promise<Payout> {
  const addresses = testAddresses(network);
  const { batch_id: batchId } = await merchant.sdk.payouts.create({
    currency: 'USDT',
    items: items.map(({ to, amount }) => ({ network, address: addresses[to], amount })),
  });
  await merchant.sdk.payouts.submit(batchId);
  return { merchant, batchId, network, chain: service.app.chains.sandbox(merchant.merchantId, network) };
}

/** A new merchant with one submitted batch, which no worker has taken yet. */
export async function newPayout(
  service: TestService,
  network: Network,
  items: readonly Item[] = TWO_GOOD_ONE_BAD,
): Promise<Payout> {
  return await submitItems(service, await newMerchant(service, network), { network, items });
}

const OVER = ['completed', 'partially_completed', 'failed'];

/** Makes later jobs due now and wakes the workers, as when a merchant's clock is advanced. */
const MAKE_DUE = `
  with due as (
    update job set due_at_ms = 0 where merchant_id = any($1) and (follows_clock or kind = 'transfers.send') and lease_owner is null
    returning merchant_id
  )
  select pg_notify('florin_job', merchant_id::text) from due`;

/** Waits until every batch has ended, while the chains make blocks and no job waits for the clock. */
export async function finishAll(
  service: TestService,
  payouts: readonly Payout[],
  timeoutMs = 25_000,
): Promise<void> {
  const open = new Set(payouts);
  const look = async (payout: Payout) => {
    await payout.chain.mine(4);
    if (OVER.includes(await statusOf(payout))) open.delete(payout);
  };
  const lookAtAll = async () => {
    await Promise.all([...open].map(look));
    await asOwner(service, MAKE_DUE, [[...open].map(({ merchant }) => merchant.merchantId)]);
    return open.size;
  };
  await expect.poll(lookAtAll, { timeout: timeoutMs, interval: 250 }).toBe(0);
}

export async function statusOf({ merchant, batchId }: Payout): Promise<string> {
  return (await merchant.sdk.payouts.retrieve(batchId)).status;
}

/** Statuses of the attempts made for a payout, in order. */
export async function attemptsOf(service: TestService, { batchId }: Payout): Promise<string[]> {
  const rows = await asOwner<{ status: string }>(
    service,
    'select status from transfer_attempt where group_id = $1 order by attempt_id',
    [decodeId('payoutBatch', batchId)],
  );
  return rows.map((row) => row.status);
}

/** Moves the merchant's clock, and with it the time of the chains, but not the due times of jobs. */
export async function moveClock(
  service: TestService,
  { merchant }: Pick<Payout, 'merchant'>,
  seconds: number,
): Promise<void> {
  const text = 'update merchant set clock_offset = clock_offset + $2 where merchant_id = $1';
  await asOwner(service, text, [merchant.merchantId, seconds]);
}

/** Each of the merchants' items as it is now. */
const ITEMS = `
  select i.merchant_id, i.status, i.amount::text from payout_item i
  where i.merchant_id = any($1) order by i.merchant_id, i.amount`;
/** Movements out of wallets, from the chain's own tables. A payment to oneself moves nothing out. */
const MOVED = `
  select t.merchant_id, t.amount::text
  from simchain.transfer t join simchain.transaction x using (merchant_id, network, tx_id)
  where t.merchant_id = any($1) and x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient
    and not exists (select from transfer s where s.owner_type = 'sweep' and s.transfer_id::text = t.item_id)
  order by t.merchant_id, t.amount`;
/** The sum that the ledger has as paid, and its differences to the chain's own balances. */
const BOOKED = `
  select merchant_id, sum(amount)::text as paid from ledger_entry
  where merchant_id = any($1) and debit = 'payout_hold' and credit like 'custody_hold:%' group by merchant_id`;
const COINS_THAT_DIFFER = `
  with books as (
    select merchant_id, split_part(account, ':', 2) as network, currency, sum(balance) as coins from ledger_account
    where merchant_id = any($1) and split_part(account, ':', 1) in ('custody', 'custody_hold', 'float') group by 1, 2, 3
  ), wallets as (
    select distinct merchant_id, network, recipient as address from simchain.transfer t
    join simchain.transaction x using (merchant_id, network, tx_id)
    where merchant_id = any($1) and x.origin = 'foreign'
    union select merchant_id, network, address from transfer where owner_type = 'sweep'
  ), chain as (
    select merchant_id, network, currency, sum(balance) as coins
    from simchain.account join wallets using (merchant_id, network, address) group by 1, 2, 3
  )
  select * from books b full join chain c using (merchant_id, network, currency)
  where coalesce(b.coins, 0) <> coalesce(c.coins, 0)`;
const JOBS_LEFT = `select kind, merchant_id, last_error from job where merchant_id = any($1)
  and kind in ('payouts.process', 'transfers.send', 'payout_item.decided')`;

/**
 * I1, I2, I11 by statements that share nothing with the product: each item was paid once by the chain and booked, or
 * failed and given back; chain and ledger agree to the base unit; no job is left.
 */
export async function expectPaidOnce(service: TestService, payouts: readonly Payout[]): Promise<void> {
  const ids = [[...new Set(payouts.map((payout) => payout.merchant.merchantId))]];
  const items = await asOwner<{ merchant_id: string; status: string; amount: string }>(service, ITEMS, ids);
  const moved = await asOwner<{ merchant_id: string; amount: string }>(service, MOVED, ids);
  const succeeded = items.filter((item) => item.status === 'succeeded');
  expect(items.filter((item) => !['succeeded', 'failed'].includes(item.status))).toEqual([]);
  expect(moved).toEqual(succeeded.map(({ merchant_id, amount }) => ({ merchant_id, amount })));
  const booked = await asOwner<{ merchant_id: string; paid: string }>(service, BOOKED, ids);
  const sums = Map.groupBy(succeeded, (item) => item.merchant_id);
  const total = (rows: readonly { amount: string }[]) =>
    rows.reduce((sum, row) => sum + BigInt(row.amount), 0n);
  expect(new Map(booked.map((row) => [row.merchant_id, BigInt(row.paid)]))).toEqual(
    new Map([...sums].map(([merchantId, rows]) => [merchantId, total(rows)])),
  );
  expect(await asOwner(service, COINS_THAT_DIFFER, ids)).toEqual([]);
  await expect.poll(() => asOwner(service, JOBS_LEFT, ids), { timeout: 20_000 }).toEqual([]);
}
