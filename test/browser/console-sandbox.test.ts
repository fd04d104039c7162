import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { consoleDriver } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('the helpers of a sandbox in the console', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { base, signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant();
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  test('an empty list makes its first row; a payment is paid, a subscription renewed by the clock, and a wallet emptied', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('owner');
    const dialog = page.getByRole('dialog');
    await page.goto(`${base()}/payments`);
    await page.getByText('Sandbox: nothing here is real money.').waitFor();
    await page.getByRole('button', { name: 'Make one, as the payer' }).click();
    await page.getByRole('row', { name: /first-order/ }).waitFor();
    await page.goto(`${base()}/customers`);
    await page.getByRole('button', { name: 'Make one' }).click();
    await page.getByRole('link', { name: 'first-customer' }).waitFor();
    await page.goto(`${base()}/payouts`);
    await page.getByRole('button', { name: 'Make a draft' }).click();
    await page.getByRole('row', { name: /25\.00 USDT/ }).waitFor();
    await page.goto(`${base()}/subscriptions`);
    await looks(page, 'subscriptions-empty');
    await page.getByRole('button', { name: 'Subscribe, as the payer' }).click();
    await page.getByRole('row', { name: /first-customer active/ }).waitFor();

    // A payment that is left short, then paid in full.
    const session = await merchant.sdk.checkout.sessions.create({ amount: 5_000n, currency: 'USD' });
    await page.goto(`${base()}/payments/${session.payment_id}`);
    for (const [tokens, then] of [
      ['12,5', 'This is not an amount'],
      ['20.00', 'underpaid'],
      ['', 'completed'],
    ] as const) {
      if (!(await dialog.isVisible())) await page.getByRole('button', { name: 'Pay as the payer' }).click();
      await dialog.getByLabel(/^Tokens/).fill(tokens);
      if (tokens === '12,5') await looks(page, 'pay-as-payer');
      await dialog.getByRole('button', { name: 'Send' }).click();
      await page
        .getByText(then, { exact: tokens !== '12,5' })
        .first()
        .waitFor();
      // The page follows its store: it may show the payment before the dialog has its own answer.
      if (tokens !== '12,5') await dialog.waitFor({ state: 'hidden' });
    }

    await page.goto(`${base()}/payment-methods`);
    await page.locator('[data-open]').waitFor();
    await looks(page, 'payment-methods');
    await page.locator('[data-open]').click();
    const wallet = page.getByRole('region', { name: 'Its wallet' });
    await wallet.getByText('Yes', { exact: true }).waitFor();
    await page.getByRole('button', { name: "Change the payer's wallet" }).click();
    await dialog.getByLabel(/^What it holds/).fill('0');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await wallet.getByText('No: the wallet holds less.').waitFor();
    await looks(page, 'payment-method');
    await page.getByRole('region', { name: 'Charged by it' }).getByRole('link').click();
    await page.getByRole('row', { name: /first-customer active/ }).waitFor();
    // What a list is filtered by stands in one of its fields, wherever the link to it was.
    await page.goto(`${base()}/customers`);
    await page.getByRole('link', { name: 'first-customer' }).click();
    await page.getByRole('region', { name: 'Theirs' }).getByRole('link', { name: 'Payments' }).click();
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    expect(await page.getByLabel('Customer', { exact: true }).inputValue()).toBe('first-customer');

    await page.getByRole('link', { name: 'Clock' }).click();
    await page.getByText(/^It is/).waitFor();
    await page.getByLabel('Move it ahead by').fill('0');
    await page.getByRole('button', { name: 'Advance' }).click();
    await page.getByText('A whole number above 0').waitFor();
    await page.getByLabel('Move it ahead by').fill('32');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'invoice.payment_failed' }).first().waitFor({ timeout: LONG_MS });
    await looks(page, 'clock');
    const { clockOffset } = await getMerchant(service.app.db, merchant.merchantId);
    expect(clockOffset).toBeGreaterThanOrEqual(32 * 86_400);
    await page.getByRole('link', { name: 'Webhook inbox' }).click();
    const came = page.getByRole('region', { name: 'invoice.payment_failed' }).first();
    await came.getByText('No endpoint was there').waitFor();
    await came.getByText('As it is sent').click();
    await came.getByText('"type": "invoice.payment_failed"').waitFor();
    await looks(page, 'inbox');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('chains: blocks are mined and taken back, an outage begins and ends; wallets: money and addresses', {
    timeout: LONG_MS,
  }, async () => {
    const session = await merchant.sdk.checkout.sessions.create({ amount: 700n, currency: 'USD' });
    const paid = { currency: 'USDT', network: 'trc20', final: false } as const;
    await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, paid);
    const { page, faults } = await signIn('support');
    const dialog = page.getByRole('dialog');
    const order = async (label: string, submit: string, fields: Record<string, string> = {}) => {
      const tron = page.getByRole('region', { name: 'Tron' });
      await tron.getByRole('button', { name: label, exact: true }).click();
      for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value);
      await dialog.getByRole('button', { name: submit, exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      const said = await tron.getByRole('status').innerText();
      return Number(/Block (\d+)/.exec(said)?.[1]);
    };
    await page.getByRole('link', { name: 'Chains' }).click();
    await page.getByRole('table', { name: 'Newest transfers on Tron' }).waitFor();
    await page.getByRole('region', { name: 'Tron' }).getByRole('button', { name: 'Mine' }).click();
    await dialog.getByLabel('Blocks').fill('many');
    await dialog.getByRole('button', { name: 'Mine' }).click();
    await dialog.getByText('A whole number.').waitFor();
    await looks(page, 'chain-form');
    await dialog.getByRole('button', { name: 'Back' }).click();
    const before = await order('Outage', 'Begin');
    expect(await order('Mine', 'Mine', { Blocks: '7' })).toBeGreaterThanOrEqual(before + 7);
    await order('Outage', 'Begin', { 'Seconds for which': '0' });
    await order('Reorganise', 'Reorganise');
    await looks(page, 'chains');
    await page.getByRole('link', { name: 'Wallets' }).click();
    await page.getByText('succeeds an hour', { exact: false }).waitFor();
    const available = async () =>
      (await merchant.sdk.balances.retrieve()).data.find(({ currency }) => currency === 'USDC')?.available;
    const had = await available();
    await page.getByRole('button', { name: 'Add money' }).click();
    await dialog.getByLabel('Token', { exact: true }).selectOption('USDC');
    await dialog.getByLabel('Tokens').fill('17.5');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await looks(page, 'wallets');
    expect(Number(await available()) - Number(had)).toBe(17_500_000);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('real money has no such pages, a viewer neither', { timeout: LONG_MS }, async () => {
    const viewer = await signIn('viewer');
    const helpers = (of: typeof viewer) => of.page.getByRole('link', { name: /^(Clock|Chains|Wallets)$/ });
    expect(await helpers(viewer).count()).toBe(0);
    await viewer.page.goto(`${base()}/clock`);
    await viewer.page.getByText('those of a sandbox', { exact: false }).waitFor();
    const support = await signIn('support');
    expect(await helpers(support).count()).toBe(3);
    const live = await service.createMerchant({ mode: 'live' });
    const membership = { merchant_id: live.merchantId, user_id: support.userId, role: 'support' } as const;
    await service.app.db
      .insertInto('console_membership')
      .values({ ...membership, created_at_ms: service.app.clock.nowMs() })
      .execute();
    const place = `${encodeId('merchant', live.merchantId)}/${encodeId('store', live.storeId)}`;
    const calls: number[] = [];
    support.page.on('response', (answer) => {
      if (answer.url().includes('/test_helpers/')) calls.push(answer.status());
    });
    for (const folder of ['payments', 'clock', 'chains', 'wallets', 'inbox']) {
      await support.page.goto(new URL(`/console/${place}/${folder}`, base()).href);
      await support.page.getByRole('heading', { level: 1 }).waitFor();
      expect(await helpers(support).count()).toBe(0);
      expect(await support.page.getByText('nothing here is real money').count()).toBe(0);
      expect(await support.page.getByRole('button', { name: /as the payer/ }).count()).toBe(0);
    }
    await support.page.getByRole('link', { name: 'Mails' }).click();
    await support.page.getByText('No mails yet').waitFor();
    await looks(support.page, 'mails-empty');
    expect(calls).toEqual([]);
    expect([viewer.faults, support.faults]).toEqual([[], []]);
    await Promise.all([viewer, support].map((one) => one.page.context().close()));
  });
});
