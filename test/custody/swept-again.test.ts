import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type OpenPayment, scanOnce, sendAs } from '../checkout/deposits-by-hand.ts';
import { TOKEN } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce, creditedPayment } from './audits.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const sweepsOf = (merchantId: string) =>
  asOwner<{ status: string; amount: string }>(
    service,
    `select status, amount::text from transfer where merchant_id = $1 and owner_type = 'sweep' order by transfer_id`,
    [merchantId],
  );

/** What is swept of each deposit, in the order in which they came. */
const sweptOf = async (merchantId: string) =>
  (
    await asOwner<{ swept: string }>(
      service,
      `select (swept_amount / 1000000)::text || '/' || (amount / 1000000)::text as swept from payment_transaction
       where merchant_id = $1 order by seen_at, amount`,
      [merchantId],
    )
  ).map(({ swept }) => swept);

async function settleDown({ merchant, chain }: OpenPayment, network: Network): Promise<void> {
  const { merchantId } = merchant;
  for (let round = 0; round < 2; round++) {
    await auditOnce(service, merchantId, network);
    await chain.mine(4);
    await scanOnce(service.app, merchantId, network);
  }
  await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
  await new Process(service.app, merchantId).finish(network);
}

const inWallet = async ({ chain }: OpenPayment) =>
  Number(await chain.balance(await chain.hotAddress(), 'USDT', 'final')) / TOKEN;

describe.each(NETWORKS)('%s', (network) => {
  test('fault 49: a sweep that is mined again moves another deposit’s coins: the rest is swept, and booked so', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    await new Process(service.app, merchantId).finish(network);
    expect(await sweptOf(merchantId)).toEqual(['100/100']);
    await own.chain.reorg(40);
    // Other money lies there by the time the sweep's bytes are sent again.
    await sendAs(own, 'another payer', [150]);
    await own.chain.mine(4);
    await settleDown(own, network);
    expect(await inWallet(own)).toBe(150);
    expect(await sweptOf(merchantId)).toEqual(['0/100', '150/150']);
    // The first deposit comes again, after all.
    await own.sendAgain();
    await own.chain.mine(4);
    await settleDown(own, network);
    expect(await inWallet(own)).toBe(250);
    expect(await sweptOf(merchantId)).toEqual(['100/100', '150/150']);
    expect(
      (await sweepsOf(merchantId)).filter(({ status }) => status === 'queued' || status === 'sending'),
    ).toEqual([]);
  }, 90_000);

  test('fault 49: also where it is final before the deposit whose coins it takes is credited', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    const process = new Process(service.app, merchantId);
    await process.finish(network);
    await own.chain.reorg(40);
    await sendAs(own, 'another payer', [150]);
    await own.chain.mine(4);
    for (let round = 0; round < 2; round++) {
      await auditOnce(service, merchantId, network);
      await own.chain.mine(4);
    }
    await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
    await process.finish(network);
    expect(await sweptOf(merchantId)).toEqual(['100/100']);
    await scanOnce(service.app, merchantId, network);
    await process.finish(network);
    expect(await inWallet(own)).toBe(150);
    expect(await sweptOf(merchantId)).toEqual(['0/100', '150/150']);
  }, 90_000);

  test('fault 49: a sweep of lost deposits is canceled; other coins of the address are swept', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    await sendAs(own, 'another payer', [60]);
    await own.chain.mine(4);
    await scanOnce(service.app, merchantId, network);
    const process = new Process(service.app, merchantId);
    // Ordered, and nothing is sent yet.
    expect(await process.step()).toBe('checkout.credited');
    expect(await sweepsOf(merchantId)).toEqual([{ status: 'queued', amount: String(160 * TOKEN) }]);
    await own.chain.reorg(40);
    await sendAs(own, 'another payer', [60]);
    await own.chain.mine(4);
    await settleDown(own, network);
    expect(await inWallet(own)).toBe(60);
    expect((await sweepsOf(merchantId)).map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  }, 90_000);
});

describe('erc20: a sweep whose bytes found no coins, and which is mined again when there are some', () => {
  /** Swept; then its deposit goes, and the bytes are mined without it. */
  async function sweptForNothing() {
    const own = await creditedPayment(service, 'erc20');
    const { merchantId } = own.merchant;
    const process = new Process(service.app, merchantId);
    await process.finish('erc20');
    await own.chain.reorg(40);
    await settleDown(own, 'erc20');
    expect(await sweptOf(merchantId)).toEqual(['0/100']);
    return { ...own, merchantId, process };
  }
  type Swept = Awaited<ReturnType<typeof sweptForNothing>>;

  /** All blocks go once more, and by the time that the bytes are sent again the deposit is back. */
  async function mineAgain(own: Swept): Promise<void> {
    await own.chain.reorg(80);
    await own.sendAgain();
    await settleDown(own, 'erc20');
    await settleDown(own, 'erc20');
    expect(await inWallet(own)).toBe(100);
  }

  test('fault 49: it has swept its deposit again', async () => {
    const own = await sweptForNothing();
    await mineAgain(own);
    expect(await sweptOf(own.merchantId)).toEqual(['100/100']);
  }, 90_000);

  test('fault 49: also if another sweep had claimed the deposit and finds no coins', async () => {
    const own = await sweptForNothing();
    await own.sendAgain();
    await own.chain.mine(4);
    await settleDown(own, 'erc20');
    expect(await sweptOf(own.merchantId)).toEqual(['100/100']);
    expect(await sweepsOf(own.merchantId)).toHaveLength(2);
    await mineAgain(own);
    expect(await sweptOf(own.merchantId)).toEqual(['100/100']);
  }, 90_000);
});
