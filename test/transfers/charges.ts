import { randomUUID } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { expect } from 'vitest';
import type { App } from '../../packages/server/src/app.ts';
import type { SimulatedChain } from '../../packages/server/src/chains/index.ts';
import type { MandatePeriod } from '../../packages/server/src/chains/port/index.ts';
import { recordEvents } from '../../packages/server/src/events/index.ts';
import { chargeOutcome, orderCharges } from '../../packages/server/src/payment-methods/charges/index.ts';
import type { PaymentMethodRow } from '../../packages/server/src/payment-methods/index.ts';
import { saveMandate } from '../../packages/server/src/payment-methods/mandates/index.ts';
import {
  bookCharges,
  endCharges,
  insertCharges,
} from '../../packages/server/src/payments/charges/charges.ts';
import { paymentContext } from '../../packages/server/src/payments/deps.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { Job, JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { merchantTime } from '../../packages/server/src/tenancy/merchant-time.ts';
import { asOwner } from '../ledger.ts';
import type { TestMerchant, TestService } from '../service.ts';

export const AMOUNT = 12_340_000n;
const ENOUGH = 1_000_000_000n;
const WINDOW_SECONDS = 2_592_000;

/** A merchant's payer who has given a mandate, in final blocks. */
export interface Payer {
  merchant: TestMerchant;
  network: Network;
  chain: SimulatedChain;
  method: PaymentMethodRow;
  wallet: { owner: string; asset: 'USDT' };
}

export interface Charge extends Payer {
  paymentId: string;
}

export interface PayerOptions {
  balance?: bigint;
  allowance?: bigint;
  cap?: bigint;
  merchant?: TestMerchant;
}

export async function newPayer(
  service: TestService,
  network: Network,
  { balance = ENOUGH, allowance = ENOUGH, cap = ENOUGH, merchant: known }: PayerOptions = {},
): Promise<Payer> {
  const { app } = service;
  const merchant = known ?? (await service.createMerchant({ funds: 0n }));
  const { merchantId, storeId } = merchant;
  const chain = app.chains.sandbox(merchantId, network);
  const wallet = { owner: chain.payerAddress(randomUUID()), asset: 'USDT' as const };
  const now = merchantTime(app, await getMerchant(app.db, merchantId));
  const period: MandatePeriod = 'month';
  const terms = {
    asset: wallet.asset,
    payer: wallet.owner,
    cap,
    period,
    startsAt: now.seconds,
    endsAt: null,
  };
  const setup = await chain.mandateSetup({ ...terms, salt: randomUUID(), allowance });
  await chain.hold(wallet, balance, { final: true });
  await chain.authorize(setup, { final: true });
  const reading = { balance, allowance, isRevoked: false, isEnded: false };
  const given = { merchantId, storeId, customerId: newId(), network, mandate: setup.mandate, reading };
  const method = await transact(app.db, (tx) => saveMandate(tx, given, now));
  return { merchant, network, chain, method, wallet };
}

/** Orders a charge as `subscriptions` does: its payment and its transfer in one transaction. */
export async function chargePayer(
  service: TestService,
  payer: Payer,
  amount: bigint = AMOUNT,
): Promise<Charge> {
  const { app } = service;
  const { method, network, wallet } = payer;
  const { merchantId, storeId } = payer.merchant;
  const merchant = await getMerchant(app.db, merchantId);
  const context = await paymentContext(app, merchant);
  const { seconds } = context.time;
  const paymentId = await transact(app.db, async (tx) => {
    const invoice = { merchantId, storeId, invoiceId: newId(), customer: 'customer-1', currency: 'USDT' };
    const quote = { exchange_rate: '1', pay_amount: amount };
    const by = { currency: wallet.asset, network, wallet: wallet.owner, recipient: method.recipient };
    const made = { ...invoice, amount, method: by, quote, declineCode: null };
    const [payment] = await insertCharges(tx, [{ charge: made, context }]);
    const id = payment?.paymentId ?? '';
    const window = { windowStart: seconds, windowEnd: seconds + WINDOW_SECONDS };
    const charge = { paymentId: id, method, amount, subscriptionId: newId(), ...window };
    await orderCharges(tx, merchantId, [charge], context.time);
    return id;
  });
  return { ...payer, paymentId };
}

/** A charge that no worker has taken yet, of a new merchant's payer. */
export async function newCharge(
  service: TestService,
  network: Network,
  options?: PayerOptions,
): Promise<Charge> {
  return await chargePayer(service, await newPayer(service, network, options));
}

/** Books the outcome of a charge, as `subscriptions` does. */
export async function bookCharge(
  app: Pick<App, 'db' | 'clock' | 'chains'>,
  job: Job,
  run: JobRun,
  isUnneeded = false,
): Promise<'done'> {
  const { merchantId } = job;
  const paymentId = String(job.payload.groupId);
  const context = await paymentContext(app, await getMerchant(app.db, merchantId));
  const outcome = await chargeOutcome(app.db, merchantId, paymentId);
  if (outcome === undefined) throw new Error('the charge is not decided');
  await run.step(async (tx) => {
    const end =
      outcome.status === 'failed'
        ? { declineCode: outcome.failureCode }
        : { txId: outcome.txId, isNeeded: !isUnneeded, isSanctioned: false };
    const [settled] = await endCharges(tx, merchantId, [{ paymentId, outcome: end, context }]);
    if (settled === undefined) return;
    await recordEvents(tx, [settled.change]);
    await bookCharges(tx, merchantId, [settled]);
  });
  return 'done';
}

const PAYMENTS = `
  select p.payment_id, p.status, p.decline_code, t.amount::text as pulled, t.tx_id
  from payment p left join payment_transaction t using (merchant_id, payment_id)
  where p.merchant_id = any($1) order by p.payment_id`;
/** Movements from payers' wallets into ours, from the chain's own tables. */
const MOVED = `
  select s.owner_id as payment_id, t.amount::text as pulled, t.tx_id
  from simchain.transfer t join simchain.transaction x using (merchant_id, network, tx_id)
  join transfer s on s.merchant_id = t.merchant_id and s.transfer_id::text = t.item_id
  where t.merchant_id = any($1) and x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient
    and s.charge is not null and t.sender = s.address and t.recipient = s.charge -> 'mandate' ->> 'recipient'
  order by s.owner_id`;
/** Any other movement out of a wallet, ours or a payer's. */
const STRAY = `
  select t.* from simchain.transfer t join simchain.transaction x using (merchant_id, network, tx_id)
  left join transfer s on s.merchant_id = t.merchant_id and s.transfer_id::text = t.item_id
  where t.merchant_id = any($1) and x.origin = 'wallet' and t.sender <> t.recipient and s.charge is null`;
const BOOKED = `
  select cause_id as payment_id, sum(amount)::text as pulled from ledger_entry
  where merchant_id = any($1) and debit like 'custody:%' and credit = 'available' group by 1 order by 1`;
const COINS_THAT_DIFFER = `
  with books as (
    select merchant_id, split_part(account, ':', 2) as network, currency, sum(balance) as coins from ledger_account
    where merchant_id = any($1) and split_part(account, ':', 1) in ('custody', 'custody_hold', 'float') group by 1, 2, 3
  ), chain as (
    select distinct a.merchant_id, a.network, a.currency, a.balance as coins
    from simchain.account a join payment_method m
      on m.merchant_id = a.merchant_id and m.network = a.network and m.recipient = a.address
    where a.merchant_id = any($1)
  )
  select * from books b full join chain c using (merchant_id, network, currency)
  where coalesce(b.coins, 0) <> coalesce(c.coins, 0)`;
const JOBS_LEFT = `select kind, merchant_id, last_error from job where merchant_id = any($1)
  and kind in ('transfers.send', 'charge.decided')`;

/**
 * I1, I2, I11 by statements that share nothing with the product: each charge was pulled once by the chain and booked, or
 * failed and pulled nothing; chain and ledger agree to the base unit; no job is left.
 */
export async function expectPulledOnce(service: TestService, charges: readonly Charge[]): Promise<void> {
  const ids = [[...new Set(charges.map((charge) => charge.merchant.merchantId))]];
  const rows = await asOwner<{ payment_id: string; status: string; pulled: string | null; tx_id: string }>(
    service,
    PAYMENTS,
    ids,
  );
  expect(rows).toHaveLength(charges.length);
  expect(rows.filter(({ status }) => !['completed', 'failed'].includes(status))).toEqual([]);
  const completed = rows.filter(({ status }) => status === 'completed');
  const key = ({ payment_id, pulled, tx_id }: (typeof rows)[number]) => ({ payment_id, pulled, tx_id });
  expect(await asOwner(service, MOVED, ids)).toEqual(completed.map(key));
  expect(rows.filter(({ status, pulled }) => status === 'failed' && pulled !== null)).toEqual([]);
  const booked = await asOwner(service, BOOKED, ids);
  expect(booked).toEqual(completed.map(({ payment_id, pulled }) => ({ payment_id, pulled })));
  expect(await asOwner(service, STRAY, ids)).toEqual([]);
  expect(await asOwner(service, COINS_THAT_DIFFER, ids)).toEqual([]);
  expect(await asOwner(service, JOBS_LEFT, ids)).toEqual([]);
}

export async function paymentOf(service: TestService, { merchant, paymentId }: Charge) {
  const [row] = await asOwner<{ status: string; decline_code: string | null }>(
    service,
    'select status, decline_code from payment where merchant_id = $1 and payment_id = $2',
    [merchant.merchantId, paymentId],
  );
  return row;
}

export async function attemptsOf(service: TestService, { paymentId }: Charge): Promise<string[]> {
  const rows = await asOwner<{ status: string }>(
    service,
    'select status from transfer_attempt where group_id = $1 order by attempt_id',
    [paymentId],
  );
  return rows.map((row) => row.status);
}
