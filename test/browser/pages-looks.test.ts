import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeCommands } from '../../packages/server/src/operator/merchants.ts';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/settings.ts';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { receiptOf } from '../mail/receipt.ts';
import { shop } from '../refunds/requests.ts';
import { serveSandboxPages } from '../sandbox-pages.ts';
import { BLOCKS_BY_HAND, startService, type TestMerchant, type TestService } from '../service.ts';
import { DAY } from '../subscriptions/billing.ts';
import { driver } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { expectLooks } from './looks.ts';
import { subscribe } from './subscribed.ts';

const TIMEOUT_MS = 120_000;
/** Chromium itself reports the status of a mistake and of what is not there. */
const REFUSALS = /status of 4\d\d/;

/** Every state of the pages of payers beside the checkout, whose states are in `checkout-looks.test.ts`. */
describe.skipIf(!hasChromium())('how the other pages of payers look', () => {
  let service: TestService;
  /** Where what lasts a block lasts. */
  let still: TestService;
  let browser: Browser;
  const payer = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    still = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await still?.stop();
  });

  async function brand(on: TestService, { storeId }: TestMerchant): Promise<void> {
    const commands = storeCommands(on.app);
    const store = encodeId('store', storeId);
    await commands.rename(store, 'Papelería Ñandú');
    await commands.setAccent(store, '#00695c');
    await commands.setSupport(store, 'help@shop.example');
    await commands.setTerms(store, 'https://shop.example/terms');
  }

  const expectLook = (name: string, url: string, act?: (page: Page) => Promise<void>) =>
    expectLooks(payer, { name, urlOf: (lang) => `${url}?lang=${lang}`, act }, REFUSALS);

  describe('payment links', () => {
    let merchant: TestMerchant;
    beforeAll(async () => {
      merchant = await service.createMerchant({ funds: 0n });
      await brand(service, merchant);
    });
    const fixed = () =>
      merchant.sdk.paymentLinks.create({
        amount: 2_499n,
        currency: 'USD',
        description: 'Two notebooks and a pencil',
      });
    const openLink = () =>
      merchant.sdk.paymentLinks.create({ open: true, currency: 'USD', description: 'Tips' });
    const type = async (page: Page) => {
      await page.locator('input[inputmode], input[type=text]').first().fill('1,000');
      await page.locator('form button').first().click();
      await page.getByRole('alert').waitFor();
    };

    test('fixed', async () => expectLook('link-fixed', (await fixed()).url));
    test('open', async () => expectLook('link-open', (await openLink()).url));
    test('open, after a mistake', async () => expectLook('link-mistake', (await openLink()).url, type));
    test('to be printed', async () => expectLook('link-print', `${(await fixed()).url}/qr`));
    test('closed', async () => {
      const { id, url } = await fixed();
      await merchant.sdk.paymentLinks.update(id, { active: false });
      await expectLook('link-closed', url);
    });
    test('none', async () => expectLook('link-missing', `${service.baseUrl}/pay/nothing`));
  });

  describe('the claim of a refund', () => {
    async function asked(on: TestService = service, approvalAbove = 'off') {
      const calls = await shop(on, { funds: 1_000_000_000n });
      await writeSetting(on.app.db, calls.merchant.merchantId, REFUND_SETTINGS.approvalAbove, approvalAbove);
      await brand(on, calls.merchant);
      const { id } = await calls.paid();
      const { claim_url: url } = await calls.refund({ refund_id: 'r', payment_id: id });
      const { erc20 } = await calls.merchant.sdk.testHelpers.addresses();
      return { ...calls, url: url ?? '', address: erc20.succeed, failing: erc20.fail };
    }
    const submit = (address: string, next: string) => async (page: Page) => {
      await page.locator('#address').fill(address);
      await page.locator('form button').first().click();
      await page.locator(next).first().waitFor({ state: 'attached' });
    };

    test('which address', async () => expectLook('claim-ask', (await asked()).url));
    test('after a mistake', async () =>
      expectLook('claim-mistake', (await asked()).url, submit('hello', '[role=alert]')));
    test('is this the address', async () => {
      const { url, address } = await asked();
      await expectLook('claim-check', url, submit(address, '[name=sure]'));
    });
    test('on its way', async () => {
      const { url, address, claim, read } = await asked(still);
      await claim('r', address);
      const status = async () => (await read('r')).status;
      await expect.poll(status, { timeout: TIMEOUT_MS }).toBe('processing');
      await expectLook('claim-way', url);
    });
    test('sent', async () => {
      const { url, address, claim, ended } = await asked();
      await claim('r', address);
      expect(await ended('r')).toMatchObject({ status: 'succeeded' });
      await expectLook('claim-sent', url);
    });
    test('failed', async () => {
      const { url, failing, claim, ended } = await asked();
      await claim('r', failing);
      expect(await ended('r')).toMatchObject({ status: 'failed' });
      await expectLook('claim-failed', url);
    });
    test('waiting for approval', async () => {
      const { url, address, claim, read, merchant } = await asked(service, '1.00');
      await claim('r', address);
      await merchant.sdk.testHelpers.advanceClock(60);
      expect(await read('r')).toMatchObject({ status: 'pending' });
      await expectLook('claim-approval', url);
    });
    test('of a suspended merchant', async () => {
      const { url, merchant } = await asked();
      await setMerchantStatus(service.app, merchant.merchantId, 'suspended');
      await expectLook('claim-suspended', url);
    });
    test('canceled', async () => {
      const { url, cancel } = await asked();
      await cancel('r');
      await expectLook('claim-over', url);
    });
    test('none', async () => expectLook('claim-missing', `${(await asked()).url.slice(0, -4)}1111`));
  });

  describe('a mail, as its reader sees it', () => {
    let server: FastifyInstance | undefined;
    afterAll(() => server?.close());

    test('receipt', async () => {
      const merchant = await service.createMerchant({ funds: 0n });
      await brand(service, merchant);
      const pages = await serveSandboxPages(service, merchant);
      server = pages.server;
      const { id } = await receiptOf(merchant, 'ada@example.com');
      await expectLook('mail-receipt', `${pages.url}/sandbox/mails/${id}`);
    });
  });

  /** A subscription whose customer stands before its page. */
  async function subscribed(on: TestService = service, more: object = {}) {
    const merchant = await on.createMerchant({ funds: 0n });
    await brand(on, merchant);
    const subscription = await subscribe(on, merchant, more);
    const reach = async (status: string) =>
      await expect
        .poll(async () => (await subscription.read(subscription.id)).status, { timeout: TIMEOUT_MS })
        .toBe(status);
    return { ...subscription, reach };
  }

  describe('the first payment of a subscription', () => {
    test('which wallet', async () => expectLook('subscribe-choose', (await subscribed()).url));
    test('after free days', async () => {
      const { url } = await subscribed(service, { trial_period_days: 14 });
      await expectLook('subscribe-trial', url);
    });
    test('under way', async () => {
      const own = await subscribed(still);
      const { page } = await payer.open(own.url, { javaScriptEnabled: false });
      await page.locator('input[type=radio]').first().check();
      await page.locator('form button').first().click();
      await page.context().close();
      await expectLook('subscribe-confirming', own.url);
    });
    test('declined', async () => {
      const own = await subscribed();
      await own.authorize(own.id, { balance: 0 });
      await expectLook('subscribe-declined', own.url);
    });
    test('begun', async () => {
      const own = await subscribed();
      await own.authorize(own.id);
      await own.reach('active');
      await expectLook('subscribe-done', own.url);
    });
    test('overdue', async () => {
      const own = await subscribed();
      await own.authorize(own.id);
      await own.reach('active');
      await (await own.wallet()).hold(0n);
      await own.advance(32 * DAY);
      await expectLook('subscribe-overdue', own.url);
    });
    test('ended', async () => {
      const own = await subscribed();
      await own.authorize(own.id);
      await own.reach('active');
      await own.cancel(own.id);
      await expectLook('subscribe-ended', own.url);
    });
    test('with money of a sanctioned wallet', async () => {
      const own = await subscribed();
      await own.authorize(own.id);
      await own.reach('active');
      await (await own.wallet()).hold(0n);
      await own.advance(32 * DAY);
      const [path = ''] = /\/checkout\/\w+/.exec(await (await fetch(own.url)).text()) ?? [];
      const pay = (call: string, form: Record<string, string>) =>
        fetch(`${service.baseUrl}${path}${call}`, {
          method: 'POST',
          body: new URLSearchParams(form),
          redirect: 'manual',
        });
      await pay('', { option: 'USDT:trc20' });
      await pay('/simulate', { action: 'frozen' });
      const text = async () => await (await fetch(own.url)).text();
      await expect.poll(text, { timeout: TIMEOUT_MS }).toContain('review');
      await expectLook('subscribe-review', own.url);
    });
    test('of a suspended merchant', async () => {
      const own = await subscribed();
      await setMerchantStatus(service.app, own.merchant.merchantId, 'suspended');
      await expectLook('subscribe-suspended', own.url);
    });
    test('too late', async () => {
      const own = await subscribed();
      await own.advance(DAY);
      await own.reach('incomplete_expired');
      await expectLook('subscribe-expired', own.url);
    });
    test('none', async () => expectLook('subscribe-missing', `${(await subscribed()).url.slice(0, -4)}1111`));
  });

  describe("the customer's portal", () => {
    async function active() {
      const own = await subscribed();
      await own.authorize(own.id);
      await own.reach('active');
      return { ...own, portal: await own.link() };
    }
    /** All that is folded. */
    const unfold = async (page: Page) => {
      const folds = await page.locator('summary').all();
      expect(folds).not.toEqual([]);
      for (const summary of folds) await summary.click();
    };
    const cancelling = async (page: Page) => {
      await page.locator('input[value=cancel] ~ p button').click();
      await page.locator('[name=sure]').waitFor({ state: 'attached' });
    };

    test('active', async () => expectLook('portal-active', (await active()).portal));
    test('active, unfolded', async () => expectLook('portal-unfolded', (await active()).portal, unfold));
    test('to be canceled', async () => expectLook('portal-cancel', (await active()).portal, cancelling));
    test('with an empty wallet', async () => {
      const own = await active();
      await (await own.wallet()).hold(0n);
      await own.advance(32 * DAY);
      await own.reach('past_due');
      await expectLook('portal-overdue', await own.link(), unfold);
    });
    test('ending', async () => {
      const own = await active();
      await own.cancel(own.id, { cancel_at_period_end: true });
      await expectLook('portal-ending', own.portal);
    });
    test('ended', async () => {
      const own = await active();
      await own.cancel(own.id);
      await expectLook('portal-ended', own.portal);
    });
    test('receipt', async () => {
      const { portal } = await active();
      await expectLook('portal-receipt', portal, async (page) => {
        await unfold(page);
        await page.locator('a[href*=receipt]').first().click();
        await page.waitForURL(/receipt/);
      });
    });
    test('of a suspended merchant', async () => {
      const own = await active();
      await setMerchantStatus(service.app, own.merchant.merchantId, 'suspended');
      await expectLook('portal-suspended', own.portal);
    });
    test('none', async () => expectLook('portal-missing', `${(await active()).portal.slice(0, -4)}1111`));
  });
});
