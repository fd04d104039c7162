import type { PaymentOption } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { paymentCommands } from '../../packages/server/src/operator/payments.ts';
import { RATE_SETTINGS } from '../../packages/server/src/rates/index.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { TOKEN } from './requests.ts';
import { type Due, Shop } from './shop.ts';

// What people decide of seized money changes at which quote the other money of its payment counts.

const UNIT = BigInt(TOKEN);
const USDT: PaymentOption = { currency: 'USDT', network: 'erc20' };
const QUOTE_AND_GRACE = 900 + 121;

let service: TestService;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const setRate = (rate: string) =>
  writeSetting(service.app.db, shop.merchant.merchantId, RATE_SETTINGS.fixed, [`USDT/EUR=${rate}`]);

/** 40.00 EUR are 50 USDT at first. */
async function opened(): Promise<Due> {
  shop = await Shop.open(service);
  await setRate('0.8');
  return await shop.due({ amount: 4_000, currency: 'EUR', expires_in: 86_400 }, USDT);
}

const sendSanctioned = ({ address }: Due) =>
  shop.send(address, { from: testAddresses('erc20').risk_rejected, amount: 50n * UNIT });

async function decide({ paymentId: payment }: Due, txId: string, decision: 'release' | 'keep') {
  for (const name of ['Ann', 'Bob']) {
    const token = await addApprover(service.app, shop.merchant.merchantId, name);
    await paymentCommands(shop.deps)[decision]({ payment, txId, as: name, token });
  }
}

test('released money counts as if it arrived now: at a new quote if its own has ended', async () => {
  const due = await opened();
  const txId = await sendSanctioned(due);
  await shop.settle();
  expect(await shop.payment(due)).toMatchObject({ status: 'frozen' });
  shop.wait(QUOTE_AND_GRACE);
  await setRate('1');
  await decide(due, txId, 'release');
  expect(await shop.payment(due)).toMatchObject({
    status: 'completed',
    pay_amount: 40 * TOKEN,
    exceptions: ['overpaid'],
  });
});

test('if the money that held a quote is kept by the operator, money of a newer quote counts at that', async () => {
  const due = await opened();
  const txId = await sendSanctioned(due);
  await setRate('1');
  shop.wait(QUOTE_AND_GRACE);
  await shop.choose(due.session.id, USDT);
  expect(await shop.payment(due)).toMatchObject({ pay_amount: 40 * TOKEN });
  await shop.send(due.address, { amount: 40n * UNIT });
  await shop.settle();
  expect(await shop.payment(due)).toMatchObject({ status: 'frozen', pay_amount: 50 * TOKEN });
  await setRate('0.5');
  await decide(due, txId, 'keep');
  expect(await shop.payment(due)).toMatchObject({ status: 'completed', pay_amount: 40 * TOKEN });
});
