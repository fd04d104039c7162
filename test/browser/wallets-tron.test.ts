import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { FINAL_BLOCKS, TronEnvironment } from '../chains/tron/environment.ts';
import { KEYS } from '../chains/tron/key-signer.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { ETHEREUM_AWAY } from '../live/ethereum-away.ts';
import { call, keyOf, TRX } from '../nodes/tron-client.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { InjectedTronWallet } from './tron-wallet.ts';

const PRICE = 25;
const UNITS = BigInt(PRICE * TOKEN);
const BUTTON = 'Pay with Test Link';
const WITHIN = { timeout: 90_000, interval: 200 };

describe.skipIf(!hasChromium() || !hasAnvil())(
  'a wallet of Tron in the payer’s browser',
  { timeout: 240_000 },
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
            collector: local.network.collector,
            fee_limit: String(local.network.feeCeilings.feeLimit),
            gas_top_up: String(100 * TRX),
            gas_top_ups_per_day: String(1_000 * TRX),
          }),
        () => local.node.chain.head.time,
      );
      const live = { network: ETHEREUM_AWAY, tron: local.network, signer: { socket: signer.socket } };
      service = await startService({ worker: true, live });
      merchant = await service.createMerchant({ mode: 'live', network: 'trc20' });
      await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'trc20');
      local.node.fund(KEYS.hot(0).address, 1_000 * TRX);
      await local.mine(FINAL_BLOCKS);
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

    /** A payer before the page of a subscription that asks for USDT each month. */
    async function subscriber(name: string, { trx = 100 * TRX, units = 4n * UNITS } = {}) {
      const wallet = new InjectedTronWallet(local, name);
      local.node.fund(wallet.address, trx);
      await local.give('USDT', wallet.address, units);
      const calls = billing(service, merchant);
      const items = [item(PRICE * TOKEN, 'month', 'USDT')];
      const made = await calls.make({ customer: name, currency: 'USDT', items });
      const payer = await open(made.checkout_url ?? '', { prepare: wallet.join });
      return { ...payer, wallet, calls, read: () => calls.read(made.id) };
    }
    const begin = (page: Page) => page.getByRole('button', { name: 'Continue with Test Link' }).click();
    const give = (page: Page) => page.getByRole('button', { name: 'Sign and approve in Test Link' }).click();
    const mineUntil = (ready: () => Promise<unknown>, expected: object) =>
      vi.waitFor(async () => {
        await local.mine(1);
        expect(await ready()).toMatchObject(expected);
      }, WITHIN);

    test('the payer reads the terms, signs them, approves by way of 0, and is charged; the portal says how to take it back', async () => {
      const name = 'a subscriber of the page';
      const { page, wallet, faults, calls, read } = await subscriber(name);
      // An approval of before, which is too small.
      const { url } = local.node;
      const options = { contract: local.token('USDT'), url, validMs: 600_000 };
      const small = [local.network.collector ?? '', 1n];
      await local.sendTogether([await call(keyOf(name), 'approve(address,uint256)', small, options)]);
      await begin(page);
      await page.getByText('At most each month').waitFor();
      expect(await page.locator('dl').innerText()).toMatch(
        /At most each month\s+50\.00\sUSDT\s+Subscriptions that it may serve\s+1\s+Ends\s+When you take it back\s+Approved in advance\s+1200\.00\sUSDT\s+Approved to this contract\s+T\w{33}/,
      );
      await keep(page, 'mandate-tron-1-terms');
      await expectAccessible(page);
      expect(wallet.calls).toEqual(['connect', 'chain']);
      // Once both are sent: the first answer again, which asks to go by way of 0, then a server without an answer, and a lost connection.
      const troubles: ((route: Route) => Promise<void>)[] = [
        (route) => route.fulfill({ json: first }),
        (route) => route.fulfill({ status: 503, json: { error: { message: 'away' } } }),
        (route) => route.abort(),
      ];
      let first: unknown;
      await page.route('**/mandate/approval*', async (route) => {
        const isSent = wallet.calls.filter((method) => method === 'send').length === 2;
        const trouble = isSent ? troubles.shift() : undefined;
        if (trouble !== undefined) return await trouble(route);
        const response = await route.fetch();
        first ??= await response.json();
        await route.fulfill({ response });
      });
      let refused = 0;
      await page.route('**/mandate/sign*', async (route) => {
        refused += 1;
        if (refused > 1) return await route.continue();
        await route.fulfill({ status: 429, json: { error: { message: 'too many' } } });
      });
      await give(page);
      await says(page, 'The approval waits for its block');
      await mineUntil(read, { status: 'active' });
      // The page loads itself anew until it says so.
      await page.getByRole('heading', { name: 'Your subscription has begun' }).waitFor();
      const asked = wallet.calls.filter((method) => method !== 'connect' && method !== 'chain');
      expect(asked).toEqual(['typed', 'sign', 'send', 'sign', 'send']);
      expect({ troubles: troubles.length, refused }).toEqual({ troubles: 0, refused: 2 });
      const portal = await calls.post('/portal/sessions', {
        customer: name,
        return_url: 'https://shop.example/',
      });
      await page.goto(String(Object(portal.json).url));
      await page.locator('summary').filter({ hasText: 'Take the permission back' }).click();
      await page.getByText('wallets and explorers of Tron list approvals').waitFor();
      await page.getByText(local.network.collector ?? '').waitFor();
      await keep(page, 'mandate-tron-2-portal');
      expect(faults).toEqual(['503', 'ERR_FAILED', '429'].map((one) => expect.stringContaining(one)));
      await page.context().close();
    });

    test('refused, on another account, without TRX, or with another contract: nothing begins', async () => {
      const { page, wallet, read } = await subscriber('a subscriber who hesitates', { trx: 1 });
      wallet.refuseOnce('connect');
      await begin(page);
      await says(page, 'You refused in Test Link');
      await begin(page);
      await page.locator('[data-exact=cap]').waitFor();
      wallet.switchTo(keyOf('another account').address);
      await give(page);
      await says(page, 'does not let this page use the account');
      wallet.switchTo(wallet.address);
      wallet.refuseOnce('typed');
      await give(page);
      await says(page, 'You refused in Test Link');
      await give(page);
      await says(page, 'too little energy to do without');
      local.node.fund(wallet.address, 100 * TRX);
      wallet.refuseOnce('sign');
      await give(page);
      await says(page, 'You refused in Test Link');
      await keep(page, 'mandate-tron-3-refused');
      await page.route('**/mandate/approval*', async (route) => {
        const answer = await route.fetch();
        const built = await answer.json();
        const transaction = JSON.parse(built.transaction);
        transaction.raw_data.contract[0].parameter.value.contract_address = `41${'0'.repeat(40)}`;
        await route.fulfill({
          response: answer,
          json: { ...built, transaction: JSON.stringify(transaction) },
        });
      });
      await give(page);
      await says(page, 'The terms are not those of this page, so nothing was signed.');
      await page.route('**/mandate/offer*', async (route) => {
        const answer = await route.fetch();
        const text = (await answer.text()).replace(
          /verifyingContract\\":\\"0x../,
          'verifyingContract\\":\\"0x00',
        );
        await route.fulfill({ response: answer, body: text });
      });
      await begin(page);
      await says(page, 'The terms are not those of this page, so nothing was signed.');
      expect(wallet.calls).not.toContain('send');
      expect(await read()).toMatchObject({ status: 'incomplete' });
      await page.context().close();
      // Nobody pays for an approval of which the first charge would fail.
      const poor = await subscriber('a subscriber with too few coins', { units: UNITS - 1n });
      await begin(poor.page);
      await give(poor.page);
      await says(poor.page, 'holds less than is due now');
      expect(poor.wallet.calls).not.toContain('sign');
      await poor.page.context().close();
    });
  },
);
