import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listUnswept } from '../../packages/server/src/custody/sweep-queries.ts';
import { recordEvents } from '../../packages/server/src/events/index.ts';
import {
  endCharges,
  insertCharges,
  type NewCharge,
  quoteCharge,
} from '../../packages/server/src/payments/charges/charges.ts';
import { rescanBlocks } from '../../packages/server/src/payments/deposits/rescan.ts';
import { paymentContext } from '../../packages/server/src/payments/deps.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { AMOUNT, type Charge, newCharge, newPayer, type PayerOptions } from '../transfers/charges.ts';
import { Process } from '../transfers/process.ts';
import { checkout, eventTypesOf } from './requests.ts';

const UNITS = Number(AMOUNT);
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const idOf = ({ paymentId }: Charge) => encodeId('payment', paymentId);
const api = ({ merchant }: Pick<Charge, 'merchant'>) => checkout(service, merchant);
const read = (charge: Charge) => api(charge).payment(idOf(charge));
const contextOf = ({ merchant: { merchantId } }: Pick<Charge, 'merchant'>) =>
  paymentContext(service.app, { merchantId, mode: 'sandbox', clockOffset: 0 });

/** A charge that is over, as its outcome was booked. */
async function decided(options: PayerOptions = {}, areUnneeded = false): Promise<Charge> {
  const charge = await newCharge(service, 'erc20', options);
  await new Process(service.app, charge.merchant.merchantId, { areUnneeded }).finish('erc20');
  return charge;
}

async function balanceOf({ merchant }: Charge) {
  const { data } = await merchant.sdk.balances.retrieve();
  const { available, held } = data.find(({ currency }) => currency === 'USDT') ?? {};
  return { available, held };
}

test('a charge is shown from its order on, credited once, and shows the transaction that pulled it', async () => {
  const charge = await newCharge(service, 'erc20');
  expect(await read(charge)).toMatchObject({
    status: 'processing',
    checkout_session: null,
    invoice: expect.stringMatching(/^in_/),
    customer: 'customer-1',
    amount: UNITS,
    currency: 'USDT',
    pay_currency: 'USDT',
    network: 'erc20',
    pay_amount: UNITS,
    exchange_rate: '1',
    address: null,
    amount_received: 0,
    transactions: [],
    expires_at: null,
  });
  await new Process(service.app, charge.merchant.merchantId).finish('erc20');
  const { transactions, ...payment } = await read(charge);
  expect(payment).toMatchObject({ status: 'completed', amount_received: UNITS, exceptions: [] });
  expect(transactions).toMatchObject([
    {
      index: 0,
      currency: 'USDT',
      network: 'erc20',
      address: charge.method.recipient,
      from: charge.wallet.owner,
      amount: UNITS,
      kind: 'counted',
      status: 'final',
      confirmations: 3,
    },
  ]);
  const { data } = await charge.chain.transfers({ address: charge.wallet.owner });
  expect(data.map(({ txId }) => txId)).toContain(transactions[0]?.tx_id);
  expect(await balanceOf(charge)).toEqual({ available: UNITS, held: 0 });
  expect(await eventTypesOf(charge.merchant, idOf(charge))).toEqual(['payment.completed']);
});

test('an outcome that is reported twice is booked once', async () => {
  const charge = await decided();
  const context = await contextOf(charge);
  const ended = { paymentId: charge.paymentId, context };
  const again = await transact(service.app.db, (tx) =>
    endCharges(tx, charge.merchant.merchantId, [
      { ...ended, outcome: { txId: 'another', isNeeded: true, isSanctioned: false } },
      { ...ended, outcome: { declineCode: 'insufficient_balance' } },
    ]),
  );
  expect(again).toEqual([undefined, undefined]);
  expect((await read(charge)).transactions).toHaveLength(1);
});

test('a failed charge has a decline code; one that was never sent is created as failed', async () => {
  const sent = await decided({ balance: 0n });
  expect(await read(sent)).toMatchObject({ status: 'failed', decline_code: 'insufficient_balance' });
  const context = await contextOf(sent);
  const { wallet, method, merchant } = sent;
  const charge: NewCharge = {
    merchantId: merchant.merchantId,
    storeId: merchant.storeId,
    invoiceId: newId(),
    customer: 'customer-1',
    amount: 2_000n,
    currency: 'USD',
    method: { currency: 'USDT', network: 'erc20', wallet: wallet.owner, recipient: method.recipient },
    quote: null,
    declineCode: 'mandate_revoked',
  };
  const [made] = await transact(service.app.db, async (tx) => {
    const charges = await insertCharges(tx, [{ charge, context }]);
    await recordEvents(
      tx,
      charges.flatMap(({ change }) => change ?? []),
    );
    return charges;
  });
  const unsent = { ...sent, paymentId: made?.paymentId ?? '' };
  expect(await read(unsent)).toMatchObject({
    status: 'failed',
    decline_code: 'mandate_revoked',
    pay_currency: null,
  });
  for (const failed of [sent, unsent]) {
    const id = idOf(failed);
    expect(await eventTypesOf(merchant, id)).toEqual(['payment.failed']);
    expect((await api(failed).post(`/payment/${id}/accept`)).status).toBe(400);
    const refund = await api(failed).post('/refunds/create', { refund_id: `r-${id}`, payment_id: id });
    expect(refund.json).toMatchObject({ error: { param: 'payment_id' } });
  }
  expect(await balanceOf(sent)).not.toMatchObject({ available: UNITS });
});

test('its refund needs no address: the wallet is proven, and token and network are the charge’s', async () => {
  const charge = await decided();
  const refund = await charge.merchant.sdk.refunds.create({
    refund_id: 'r-1',
    payment_id: idOf(charge),
    amount: 5_000_000n,
    currency: 'USDT',
  });
  expect(refund).toMatchObject({
    network: 'erc20',
    currency: 'USDT',
    address: charge.wallet.owner,
    claim_url: null,
  });
  expect(await balanceOf(charge)).toEqual({ available: UNITS - 5_000_000, held: 0 });
});

test('a charge for an invoice that is paid by then is held: refundable, never accepted', async () => {
  const charge = await decided({}, true);
  expect(await read(charge)).toMatchObject({ status: 'expired', amount_received: UNITS });
  expect(await balanceOf(charge)).toEqual({ available: 0, held: UNITS });
  expect((await api(charge).post(`/payment/${idOf(charge)}/accept`)).status).toBe(400);
  const body = { refund_id: 'r-2', payment_id: idOf(charge) };
  expect(await charge.merchant.sdk.refunds.create(body)).toMatchObject({ amount: UNITS });
  expect(await balanceOf(charge)).toEqual({ available: 0, held: 0 });
});

test('charged coins are in the hot wallet: no sweep and no deposit scan concerns them', async () => {
  const charge = await decided();
  const place = { merchantId: charge.merchant.merchantId, network: 'erc20' } as const;
  const swept = await listUnswept(service.app.db, place, { minimum: 0n, after: undefined, limit: 50 });
  expect(swept).toEqual([]);
  const upTo = (await charge.chain.head()).finalHeight;
  const who = { ...place, mode: 'sandbox', clockOffset: 0 } as const;
  const blocks = { network: 'erc20', above: 0n, upTo } as const;
  expect(await rescanBlocks(service.app, who, blocks)).toEqual({ known: 0, missed: 0, isAhead: false });
});

test('a charge is quoted in the token of its mandate, rounded up to a cent of it', async () => {
  const { merchant } = await newPayer(service, 'trc20');
  const who = { merchantId: merchant.merchantId, mode: 'sandbox' } as const;
  const quote = (amount: bigint, currency: string) =>
    quoteCharge(service.app, who, { amount, currency }, 'USDT');
  expect(await quote(1_999n, 'USD')).toEqual({ exchange_rate: '1', pay_amount: 19_990_000n });
  expect(await quote(1_234_567n, 'USDT')).toEqual({ exchange_rate: '1', pay_amount: 1_234_567n });
  const yen = await quote(1_000n, 'JPY');
  expect((yen?.pay_amount ?? 1n) % 10_000n).toBe(0n);
  expect(await quote(1_000n, 'XAU')).toBeUndefined();
});
