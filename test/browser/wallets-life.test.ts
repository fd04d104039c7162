import type { PaymentMethod } from '@florin/contract/schemas';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';
import { TOKEN } from '../checkout/requests.ts';
import { florin } from '../florin-command.ts';
import { advanceLive, seen } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { COLLECTOR } from '../live/live-store.ts';
import { PayerWallet } from '../live/payer-wallet.ts';
import { hotOf, lookAtRotation, rotate, rotationOf } from '../live/rotating.ts';
import { ok } from '../payouts/requests.ts';
import { billing, DAY, HOUR, item } from '../subscriptions/billing.ts';
import { expectAccessible } from './checkout-driver.ts';
import { hasWallets, TIMEOUT_MS, UNITS, walletShop } from './wallet-shop.ts';

const PRICE = 20 * TOKEN;
const DEARER = 25 * TOKEN;
/** Twice the price for 24 months. */
const APPROVED = BigInt(PRICE) * 48n;
const APPROVE = '0x095ea7b3';

describe.skipIf(!hasWallets())(
  'the life of a subscription, by browser and wallet',
  { timeout: 300_000 },
  () => {
    const shop = walletShop({ collector: true });
    const { open, keep, newWallet, payWith } = shop;

    /** Blocks come until the page says this; it is read again each time, as its own interval is longer. */
    async function mineUntil(page: Page, text: string | RegExp): Promise<void> {
      await expect
        .poll(
          async () => {
            await shop.store.world.mine(1);
            return await page.getByText(text).count();
          },
          { timeout: TIMEOUT_MS, interval: 250 },
        )
        .toBeGreaterThan(0);
    }

    test('subscribed, pulled twice, warned, renewed in the portal, rotated, changed, revoked, paid by page, canceled', async () => {
      const { store } = shop;
      const { service, merchant, world } = store;
      const api = billing(service, merchant);
      const wallet = await newWallet(20n * UNITS);
      const payer = new PayerWallet(world, wallet.account, 'USDT');
      let mandate: object = {};
      wallet.answer('eth_signTypedData_v4', async (params) => {
        mandate = JSON.parse(String(params[1])).message;
        return await wallet.usual('eth_signTypedData_v4', params);
      });
      const approvals: bigint[] = [];
      const { id, checkout_url: url } = await api.make({
        customer: 'ada',
        customer_email: 'ada@example.com',
        currency: 'USDT',
        description: 'Notebooks, every month another one',
        items: [item(PRICE, 'month', 'USDT')],
      });
      const mailed = async () => {
        const sql =
          "select kind from mail where merchant_id = $1 and recipient = 'ada@example.com' order by created_at";
        return (await asOwner<{ kind: string }>(service, sql, [merchant.merchantId])).map(({ kind }) => kind);
      };
      const methodOf = async () => {
        const { payment_method_id: methodId } = await api.read(id);
        const { data } = await ok<{ data: PaymentMethod[] }>(api.call('/payment_methods?limit=100'));
        return data.find((method) => method.id === methodId);
      };

      const openPortal = async (to: Page, query = '') => {
        const body = { customer: 'ada', return_url: 'https://shop.example/account' };
        await to.goto(String(Object((await api.post('/portal/sessions', body)).json).url) + query);
      };

      // The token takes another approval than 0 only after 0.
      await payer.approve(COLLECTOR, 1n);
      const pulledBy = async () => {
        const sql = `select a.sender from transfer t join transfer_attempt a using (merchant_id, group_id)
          where merchant_id = $1 and t.charge is not null and a.movement is null and a.status = 'succeeded' order by a.attempt_id`;
        return (await asOwner<{ sender: string }>(service, sql, [merchant.merchantId])).map(
          ({ sender }) => sender,
        );
      };
      const { page, faults } = await open(url ?? '', { prepare: wallet.join });
      wallet.answer('eth_sendTransaction', async (params) => {
        const { data } = Object(params[0]);
        if (data.startsWith(APPROVE)) approvals.push(BigInt(`0x${data.slice(-64)}`));
        if (approvals.length === 1) {
          await page.getByText('first that the earlier approval becomes 0').waitFor({ timeout: TIMEOUT_MS });
          await keep(page, 'life-0-by-way-of-0');
        }
        return await wallet.usual('eth_sendTransaction', params);
      });
      await page.getByRole('button', { name: 'Continue with Test Fox' }).click();
      await page.getByRole('button', { name: 'Approve and sign in Test Fox' }).click();
      await mineUntil(page, 'Your payment is on its way');
      expect(approvals).toEqual([0n, APPROVED]);
      await store.until(() => api.read(id), { status: 'active' });

      const { current_period_end: end = 0, created } = await api.read(id);
      await advanceLive(store, end - created + HOUR);
      const period = async () => {
        const { current_period_start: from, current_period_end: until } = await api.read(id);
        return (until ?? 0) - (from ?? 0);
      };
      await advanceLive(store, await period());
      expect((await api.invoices(id)).map(({ status }) => status)).toEqual(['paid', 'paid', 'paid']);
      expect(await payer.balance()).toBe(20n * UNITS - 3n * BigInt(PRICE));

      await payer.approve(COLLECTOR, BigInt(PRICE) - 1n);
      await seen(store, payer);
      expect(await methodOf()).toMatchObject({ status: 'inactive' });
      // The mail goes out three days before.
      await advanceLive(store, (await period()) - 3 * DAY);
      expect(await mailed()).toContain('renewal_short');
      await page.goto(url ?? '');
      await page.getByText('This wallet allows less than is due next.').waitFor();
      await keep(page, 'life-1-warned');
      await expectAccessible(page);
      const { payment_method_id: before } = await api.read(id);
      await openPortal(page);
      await page.getByText('This wallet allows less than is due next.').waitFor();
      await keep(page, 'life-2-portal');
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Allow more, or use another wallet' }).click();
      await page.getByRole('button', { name: 'Continue with Test Fox' }).click();
      await keep(page, 'life-3-renewed');
      await page.getByRole('button', { name: 'Approve and sign in Test Fox' }).click();
      await store.until(async () => ({ isKept: (await api.read(id)).payment_method_id === before }), {
        isKept: false,
      });
      expect(approvals).toEqual([0n, APPROVED, 0n, APPROVED]);
      await seen(store, payer);
      expect(await methodOf()).toMatchObject({ status: 'active' });

      expect(await rotate(store)).toMatchObject({ status: 'moving', from: hotOf(0), to: hotOf(1) });
      await api.update(id, { items: [item(DEARER, 'month', 'USDT')], proration: 'none' });
      await advanceLive(store, 4 * DAY);
      expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: DEARER });
      expect(await pulledBy()).toEqual([hotOf(0), hotOf(0), hotOf(0), hotOf(1)]);
      // Once home has moved it ends by itself: within an hour, where a look has found that it has not.
      const looked = async () => {
        await lookAtRotation(store);
        return await rotationOf(store);
      };
      await store.until(looked, { status: 'done', epoch: 1 });
      const units = await Promise.all([0, 1].map((epoch) => world.balance('USDT', hotOf(epoch))));
      expect(units).toEqual([0n, 3n * BigInt(PRICE) + BigInt(DEARER)]);

      await payer.call(COLLECTOR, { abi: Collector.abi, functionName: 'revoke', args: [mandate] });
      await seen(store, payer, true);
      expect(await methodOf()).toMatchObject({ status: 'revoked' });
      await advanceLive(store, 31 * DAY);
      expect(await api.read(id)).toMatchObject({ status: 'past_due' });
      expect(await mailed()).toContain('payment_failed');
      await page.goto(url ?? '');
      await page.getByText('This wallet does not allow payments any more.').waitFor();
      await keep(page, 'life-4-overdue');
      await expectAccessible(page);

      await page.getByText('Pay 25.00 USDT now').click();
      await page.getByRole('button', { name: 'Ethereum' }).click();
      await payWith(page);
      await mineUntil(page, 'Paid. Thank you!');
      await keep(page, 'life-5-paid');
      await store.until(() => api.read(id), { status: 'active' });
      expect(await payer.balance()).toBe(20n * UNITS - 3n * BigInt(PRICE) - 2n * BigInt(DEARER));

      await openPortal(page);
      await page.locator('summary').filter({ hasText: 'Take the permission back' }).click();
      await page.getByText(COLLECTOR).waitFor();
      await page.getByRole('button', { name: 'Cancel the subscription' }).click();
      await page.getByRole('button', { name: 'Yes, cancel it' }).click();
      await page.getByText('Ends on').waitFor();
      await keep(page, 'life-6-ending');
      await expectAccessible(page);
      await advanceLive(store, 32 * DAY);
      expect(await api.read(id)).toMatchObject({ status: 'canceled' });
      expect(await mailed()).toContain('subscription_ending');
      // What was allowed stays so until it is taken back.
      await openPortal(page, '?lang=de');
      await page.locator('summary').filter({ hasText: 'Erlaubnis zurücknehmen' }).click();
      await page.getByText(COLLECTOR).waitFor();
      await keep(page, 'life-7-over-german');
      expect(faults).toEqual([]);
      await page.context().close();
      await store.expectSettled();
      const verified = await florin(['ledger', 'verify'], { env: store.env });
      // Another merchant's wallet holds coins that no books know: the chain was begun so.
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing is missing') });
      expect(verified.stdout).not.toContain(store.id);
    });
  },
);
