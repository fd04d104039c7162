import type { Network } from '@florin/contract/money';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NETWORKS } from '../../packages/contract/src/money.ts';
import { type OpenPayment, openPayment, scanOnce, sendTokens } from '../checkout/deposits-by-hand.ts';
import { TOKEN } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { FULL } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { GivenUp, giveUpAt, inParallel, Process } from '../transfers/process.ts';

/** In CI each network is cut at every third point, and together they cover all. */
const EVERY = 3;
const FAULT = { erc20: 'fault 4', trc20: 'fault 5', spl: 'fault 6' } as const;
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A payment that was paid in two parts and credited; nobody has looked after its coins yet. */
async function credited(network: Network): Promise<OpenPayment> {
  const payment = await openPayment(service, network);
  await sendTokens(payment, 60, 40);
  await payment.chain.mine(4);
  await scanOnce(service.app, payment.merchant.merchantId, network);
  return payment;
}

/** What left the deposit address, by the chain's own tables. */
const swept = ({ merchant, address }: OpenPayment) =>
  asOwner<{ amount: string }>(
    service,
    `select t.amount::text from simchain.transfer t where t.merchant_id = $1 and t.sender = $2`,
    [merchant.merchantId, address],
  );

const openJobs = ({ merchant }: OpenPayment) =>
  asOwner(
    service,
    `select kind, last_error from job where merchant_id = $1
     and kind in ('checkout.credited', 'transfers.send', 'transfers.short', 'sweep.decided')`,
    [merchant.merchantId],
  );

async function expectSweptOnce(payment: OpenPayment): Promise<void> {
  expect(await swept(payment)).toEqual([{ amount: String(100 * TOKEN) }]);
  const { chain } = payment;
  expect(await chain.balance(await chain.hotAddress(), 'USDT', 'final')).toBe(BigInt(100 * TOKEN));
  expect(await openJobs(payment)).toEqual([]);
}

describe.each(NETWORKS)('%s', (network) => {
  test(`I2: ${FAULT[network]}: a sweep given up between any two steps moves the coins once`, async () => {
    const whole = await credited(network);
    const dry = new Process(service.app, whole.merchant.merchantId);
    await dry.finish(network);
    await expectSweptOnce(whole);
    const { crossed } = dry;
    for (const name of ['claim', 'step', 'build', 'broadcast', 'status', 'outcome']) {
      expect(crossed).toContain(`before ${name}`);
    }
    const cutAt = async (k: number) => {
      const payment = await credited(network);
      const { merchantId } = payment.merchant;
      const cut = new Process(service.app, merchantId, { at: giveUpAt(k) });
      await expect(cut.finish(network)).rejects.toThrow(GivenUp);
      await new Process(service.app, merchantId, { deadOwners: [cut.owner] }).finish(network);
      await expectSweptOnce(payment);
    };
    const points = dry.places.filter((k) => FULL || k % EVERY === NETWORKS.indexOf(network));
    await inParallel(points, cutAt);
  }, 120_000);
});

test('I2: two sweeps ordered at once share nothing', async () => {
  const payments = await Promise.all(Array.from({ length: 4 }, () => credited('trc20')));
  for (const payment of payments) {
    const { merchantId } = payment.merchant;
    const [one, two] = [new Process(service.app, merchantId), new Process(service.app, merchantId)];
    await Promise.all([one.finish('trc20'), two.finish('trc20')]);
    await one.finish('trc20');
    await expectSweptOnce(payment);
  }
}, 60_000);

test('I1: after all of it ledger minus chain is 0', { timeout: 150_000 }, () => expectLedgerWhole(service));
