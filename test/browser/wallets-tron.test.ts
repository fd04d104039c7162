import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { TronEnvironment } from '../chains/tron/environment.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { ETHEREUM_AWAY } from '../live/ethereum-away.ts';
import { TRX } from '../nodes/tron-stage.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { InjectedTronWallet } from './tron-wallet.ts';

const PRICE = 25;
const UNITS = BigInt(PRICE * TOKEN);
const BUTTON = 'Pay with Test Link';
const WITHIN = { timeout: 40_000, interval: 200 };

describe.skipIf(!hasChromium() || !hasAnvil())(
  'a wallet of Tron in the payer’s browser',
  { timeout: 120_000 },
  () => {
    let local: TronEnvironment;
    let signer: Awaited<ReturnType<typeof startWholeSigner>>;
    let service: TestService;
    let merchant: TestMerchant;
    let browser: Browser;
    const { open, keep } = driver(() => browser);
    beforeAll(async () => {
      local = await TronEnvironment.start();
      signer = await startWholeSigner(
        (policy) =>
          void Object.assign(policy.networks.trc20, {
            genesis: local.network.genesisHash,
            tokens: { USDT: local.token('USDT'), USDC: local.token('USDC') },
            fee_limit: String(local.network.feeCeilings.feeLimit),
          }),
        () => local.node.chain.head.time,
      );
      const live = { network: ETHEREUM_AWAY, tron: local.network, signer: { socket: signer.socket } };
      service = await startService({ worker: true, live });
      merchant = await service.createMerchant({ mode: 'live', network: 'trc20' });
      await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'trc20');
      browser = await openBrowser();
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await service?.stop();
      await signer?.stop();
      await local?.node.stop();
    });

    const payment = (id: string) => checkout(service, merchant).payment(id);
    /** A payer with coins at a session that asks for USDT on Tron. */
    async function opened(name: string, { trx = 100 * TRX, isOld = false } = {}) {
      const wallet = new InjectedTronWallet(local, name);
      local.node.fund(wallet.address, trx);
      await local.give('USDT', wallet.address, UNITS);
      const made = await checkout(service, merchant).open({ amount: PRICE * TOKEN, currency: 'USDT' });
      await fetch(made.url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:trc20' }) });
      const { address: to } = await payment(made.payment_id);
      const prepare = (page: Page) => wallet.join(page, isOld);
      return { ...made, wallet, to, ...(await open(made.url, { prepare })) };
    }
    const payWith = (page: Page, button = BUTTON) => page.getByRole('button', { name: button }).click();
    const says = (page: Page, text: string | RegExp) =>
      page.locator('.note').filter({ hasText: text }).first().waitFor();
    async function untilPaid(page: Page): Promise<void> {
      await vi.waitFor(async () => {
        await local.mine(1);
        const heading = page.getByRole('heading', { level: 1, name: 'Paid. Thank you!' });
        expect(await heading.isVisible()).toBe(true);
      }, WITHIN);
    }

    test('pays in two clicks, proves itself, and gets a refund without naming an address', async () => {
      const { page, wallet, faults, payment_id, to } = await opened('a payer of the page');
      await page.getByRole('button', { name: BUTTON }).waitFor();
      expect(wallet.calls).toEqual([]);
      await keep(page, 'wallet-tron-1-found');
      await expectAccessible(page);
      const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
      wallet.answer('sign', async (value) => {
        await confirmed;
        return await wallet.usual('sign', value);
      });
      await payWith(page);
      await says(page, 'Compare address and amount in Test Link');
      confirm();
      await says(page, 'Sent. It waits for its block');
      await says(page, 'A refund can go back to this wallet');
      await untilPaid(page);
      await keep(page, 'wallet-tron-2-paid');
      expect(await payment(payment_id)).toMatchObject({
        status: 'completed',
        amount_received: PRICE * TOKEN,
        transactions: [{ from: wallet.address, address: to }],
      });
      const refund = await refunds(service, merchant).refund({ refund_id: 'tw-1', payment_id });
      expect(refund).toMatchObject({ address: wallet.address, claim_url: null });
      expect(faults).toEqual([]);
      await page.context().close();
    });

    test('refused, elsewhere, or without TRX: nothing was paid, and it can be tried again', async () => {
      const { page, wallet, to } = await opened('a payer who hesitates', { trx: 1 });
      const isUnpaid = async () => {
        expect(await page.locator('[data-exact=address]').textContent()).toBe(to);
        expect(wallet.calls).not.toContain('send');
        await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled()).toBe(true);
      };
      wallet.refuseOnce('connect');
      await payWith(page);
      await says(page, 'You refused in Test Link. Nothing was paid.');
      await isUnpaid();
      wallet.answer('chain', () => ({ blockID: `${'0'.repeat(56)}2b6653dc` }));
      await payWith(page);
      await says(page, /Test Link is on another network\. Choose .*chain id/);
      await isUnpaid();
      wallet.answer('chain', (value) => wallet.usual('chain', value));
      await payWith(page);
      await says(page, "too little TRX for the network's fee");
      await isUnpaid();
      local.node.fund(wallet.address, 100 * TRX);
      wallet.refuseOnce('sign');
      await payWith(page);
      await says(page, 'You refused in Test Link. Nothing was paid.');
      await isUnpaid();
      await page.route('**/wallet-transfer*', async (route) => {
        const answer = await route.fetch();
        const transaction = JSON.parse((await answer.json()).transaction);
        transaction.raw_data.fee_limit += 1;
        await route.fulfill({ response: answer, json: { transaction: JSON.stringify(transaction) } });
      });
      await payWith(page);
      await page.getByRole('alert').waitFor();
      expect(wallet.calls).not.toContain('send');
      await page.context().close();
    });

    test('an older wallet, which stands in the page and announces nothing, pays as well', async () => {
      const { page, payment_id } = await opened('a payer with an older wallet', { isOld: true });
      await payWith(page, 'Pay with TronLink');
      await says(page, 'Sent. It waits for its block');
      await untilPaid(page);
      expect(await payment(payment_id)).toMatchObject({ amount_received: PRICE * TOKEN });
      await page.context().close();
    });
  },
);
