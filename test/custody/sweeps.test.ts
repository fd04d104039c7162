import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CUSTODY_SETTINGS } from '../../packages/server/src/custody/settings.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { TO } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const POLL = { timeout: 60_000, interval: 200 };
let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function shop() {
  const merchant = await service.createMerchant({ funds: 0n });
  return { merchant, ...checkout(service, merchant) };
}

/** What lies in the hot wallet, in final blocks. */
async function inWallet({ merchantId }: TestMerchant, network: Network, asset: 'USDT' | 'USDC' = 'USDT') {
  const chain = service.app.chains.sandbox(merchantId, network);
  await chain.mine(3);
  return Number(await chain.balance(await chain.hotAddress(), asset, 'final'));
}

const sweepsOf = ({ merchantId }: TestMerchant) =>
  asOwner<{ status: string; amount: string; currency: string }>(
    service,
    `select status, amount::text, currency from transfer
     where merchant_id = $1 and owner_type = 'sweep' order by currency, amount`,
    [merchantId],
  );

async function payOut({ sdk }: TestMerchant, network: Network, amount: string) {
  const items = [{ network, address: TO[network].succeed, amount }];
  const { batch_id: batchId } = await sdk.payouts.create({ currency: 'USDT', items });
  await sdk.payouts.submit(batchId);
  return batchId;
}

test.each(NETWORKS)(
  'what payers sent on %s is paid out again, and nobody funded anything',
  async (network) => {
    const { merchant, open, pay, chain } = await shop();
    for (const amount of [100 * TOKEN, 20 * TOKEN]) {
      const made = await open({ amount });
      expect(await pay(made.id, { network })).toMatchObject({ status: 'completed' });
    }
    const batchId = await payOut(merchant, network, '110.00');
    const isPaid = async () => {
      await chain(network, { mine: 3 });
      return (await merchant.sdk.payouts.retrieve(batchId)).status;
    };
    await expect.poll(isPaid, POLL).toBe('completed');
    const sweeps = await sweepsOf(merchant);
    expect(sweeps.map(({ status, amount }) => [status, amount])).toEqual([
      ['succeeded', '100000000'],
      ['succeeded', '20000000'],
    ]);
    const { data } = await merchant.sdk.balances.retrieve();
    const usdt = data.find((row) => row.currency === 'USDT');
    expect(await inWallet(merchant, network)).toBe(usdt?.custody[network]);
  },
  90_000,
);

test('payers’ money, also a wrong token, is refunded from the hot wallet without any funding', async () => {
  const { merchant, open, pay, chain, post, call } = await shop();
  const made = await open();
  const wrong = await pay(made.id, { currency: 'USDC', amount: 30 * TOKEN });
  expect(await pay(made.id)).toMatchObject({ status: 'completed' });
  const payment = { payment_id: made.payment_id, address: TO.erc20.succeed };
  const refunds = [
    { refund_id: 'whole', ...payment },
    { refund_id: 'wrong', ...payment, tx_id: wrong.transactions[0]?.tx_id },
  ];
  for (const refund of refunds) expect(await post('/refunds/create', refund)).toMatchObject({ status: 200 });
  const statuses = async () => {
    await chain('erc20', { mine: 3 });
    const answers = await Promise.all(refunds.map(({ refund_id: id }) => call(`/refunds/${id}`)));
    return answers.map(({ json }) => (json as { status?: string }).status);
  };
  await expect.poll(statuses, POLL).toEqual(['succeeded', 'succeeded']);
  expect(await inWallet(merchant, 'erc20')).toBe(0);
}, 90_000);

test('a wrong token is swept as well; coins of a sanctioned sender stay at their address', async () => {
  const { merchant, open, pay } = await shop();
  const wrong = await open();
  expect(await pay(wrong.id, { currency: 'USDC', amount: 30 * TOKEN })).toMatchObject({
    exceptions: ['wrong_token'],
  });
  const listed = await open();
  expect(await pay(listed.id, { from: 'sanctioned' })).toMatchObject({ status: 'frozen' });
  expect(await pay(listed.id, { amount: 7 * TOKEN })).toMatchObject({ status: 'frozen' });
  await expect.poll(() => inWallet(merchant, 'erc20', 'USDC'), POLL).toBe(30 * TOKEN);
  await expect.poll(() => inWallet(merchant, 'erc20'), POLL).toBe(7 * TOKEN);
  await expect
    .poll(() => sweepsOf(merchant), POLL)
    .toEqual([
      { status: 'succeeded', amount: '30000000', currency: 'USDC' },
      { status: 'succeeded', amount: '7000000', currency: 'USDT' },
    ]);
}, 90_000);

test('coins below the minimum stay until a payout needs them; it waits without a transaction', async () => {
  const { merchant, open, pay, chain } = await shop();
  await writeSetting(service.app.db, merchant.merchantId, CUSTODY_SETTINGS.sweepMinimum, '50.00');
  const made = await open({ amount: 40 * TOKEN });
  expect(await pay(made.id)).toMatchObject({ status: 'completed' });
  await merchant.sdk.testHelpers.advanceClock(5);
  expect(await sweepsOf(merchant)).toEqual([]);
  const batchId = await payOut(merchant, 'erc20', '30.00');
  const isPaid = async () => {
    await chain('erc20', { mine: 3 });
    return (await merchant.sdk.payouts.retrieve(batchId)).status;
  };
  await expect.poll(isPaid, POLL).toBe('completed');
  // One transaction each: nothing was tried while the wallet was short.
  expect(
    await asOwner(
      service,
      'select key_ref, sequence::text, status from transfer_attempt where merchant_id = $1 order by key_ref',
      [merchant.merchantId],
    ),
  ).toEqual([
    { key_ref: 'deposit:0', sequence: '0', status: 'succeeded' },
    { key_ref: 'hot', sequence: '0', status: 'succeeded' },
  ]);
}, 90_000);
