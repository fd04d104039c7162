import { describe, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import { account } from '../contracts/local-node.ts';
import { WITHIN } from '../live/live-store.ts';
import { refunds } from '../refunds/requests.ts';
import { expectAccessible } from './checkout-driver.ts';
import { refusal } from './scripted-wallet.ts';
import { BUTTON, hasWallets, PRICE, TIMEOUT_MS, UNITS, walletShop } from './wallet-shop.ts';

/** Its answers are no promises: each calls back once more with something else, and then fails. */
const ANSWERS_TWICE = `addEventListener('eip6963:announceProvider', ({ detail: { provider } }) => {
  if (provider.isDoubled) return;
  provider.isDoubled = true;
  const { request } = provider;
  const again = { eth_requestAccounts: ['0x' + 'ee'.repeat(20)], eth_sendTransaction: '0x' + 'cd'.repeat(32) };
  provider.request = (question) => {
    const then = (take, fail) => {
      request(question).then(take, fail).finally(() => {
        take(again[question.method] ?? null);
        fail(new Error('once more'));
      });
    };
    return { then, catch: (fail) => new Promise(then).catch(fail) };
  };
})`;

describe.skipIf(!hasWallets())(
  'wallets and scripts that lie, and answers that do not come',
  { timeout: 180_000 },
  () => {
    const shop = walletShop();
    const { keep, newWallet, opened, payWith, says, expectUnpaid, mineUntil } = shop;

    test('a wallet that lies about its account, sends something else, or signs with another key is noticed', async () => {
      const wallet = await newWallet();
      const { page, address, payment_id } = await opened(wallet);
      wallet.answer('eth_accounts', () => [account(3).address]);
      await payWith(page);
      await says(page, 'does not let this page use the account');
      await expectUnpaid(page, address, wallet);
      wallet.answer('eth_accounts', (params) => wallet.usual('eth_accounts', params));
      const other = account(3);
      wallet.answer('personal_sign', ([text]) =>
        other.signMessage({ message: { raw: text as `0x${string}` } }),
      );
      wallet.answer('eth_sendTransaction', () => wallet.send({ to: other.address, data: '0x' }));
      await payWith(page);
      await says(page, 'has sent something else than this page asked for');
      await keep(page, 'wallet-8-lies');
      await expectAccessible(page);
      expect(await shop.store.payment(payment_id)).toMatchObject({ status: 'pending', transactions: [] });
      wallet.answer('eth_sendTransaction', (params) => wallet.usual('eth_sendTransaction', params));
      await payWith(page);
      await says(page, 'The signature does not match this account and text');
      await keep(page, 'wallet-8-signature');
      await mineUntil(page, 'Paid. Thank you!');
      await shop.store.world.mine(shop.store.world.finalBlocks + 1);
      const refund = await refunds(shop.store.service, shop.store.merchant).refund({
        refund_id: 'lies',
        payment_id,
      });
      expect(refund).toMatchObject({ address: null, claim_url: expect.any(String) });
      await page.context().close();
    });

    test('an injected script that changes the call, or what the page shows, is noticed before the wallet is asked', async () => {
      const wallet = await newWallet();
      const evil = account(3).address.slice(2).toLowerCase();
      const changes = [
        `call.data = call.data.slice(0, 34) + '${evil}' + call.data.slice(74)`,
        `call.data = call.data.slice(0, -1) + 'f'`,
        `call.to = '0x${evil}'`,
        `order.chain.id = 1`,
      ];
      for (const change of changes) {
        const { page } = await opened(wallet, {
          initScript: `(() => {
        const real = window.fetch;
        window.fetch = async (url, init) => {
          const answer = await real(url, init);
          if (!String(url).includes('/wallet?')) return answer;
          const order = await answer.json();
          const { call } = order;
          ${change};
          return new Response(JSON.stringify(order));
        };
      })()`,
        });
        await payWith(page);
        await page
          .getByRole('heading', { name: 'Do not pay from this page' })
          .waitFor({ timeout: TIMEOUT_MS });
        await page.context().close();
      }
      const { page } = await opened(wallet);
      const { promise: asked, resolve: show } = Promise.withResolvers<void>();
      wallet.answer('eth_requestAccounts', async (params) => {
        await page.evaluate(
          "document.querySelector('[data-exact=amount]').firstChild.data = '2.00\u00a0USDT'",
        );
        show();
        return await wallet.usual('eth_requestAccounts', params);
      });
      await payWith(page);
      await asked;
      await page.getByRole('heading', { name: 'Do not pay from this page' }).waitFor({ timeout: TIMEOUT_MS });
      await keep(page, 'wallet-9-tampered');
      expect(wallet.calls).not.toContain('eth_sendTransaction');
      await page.context().close();
    });

    test('who pays once more after stopping keeps other tabs out until both answers are in', async () => {
      const wallet = await newWallet(2n * UNITS);
      const { page, url } = await opened(wallet);
      const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let asked = 0;
      wallet.answer('eth_sendTransaction', async () => {
        await answers[asked++]?.promise;
        throw refusal();
      });
      await payWith(page);
      await says(page, 'Compare address and amount');
      await page.getByRole('button', { name: 'Stop waiting' }).click();
      await says(page, 'does not answer any more');
      await payWith(page);
      await expect.poll(() => asked, WITHIN).toBe(2);
      answers[0]?.resolve();
      const second = await page.context().newPage();
      await wallet.join(second);
      await second.goto(url);
      await payWith(second);
      await says(second, 'under way in another tab');
      expect(asked).toBe(2);
      answers[1]?.resolve();
      await says(page, 'You refused in Test Fox');
      await payWith(second);
      await says(second, 'You refused in Test Fox');
      expect(asked).toBe(3);
      await page.context().close();
    });

    test('a wallet that answers each question twice is believed once, and nothing is paid twice', async () => {
      const wallet = await newWallet(2n * UNITS);
      const { page, payment_id, faults } = await opened(wallet, { initScript: ANSWERS_TWICE });
      await payWith(page);
      await says(page, 'Sent. It waits for its block');
      await says(page, 'A refund can go back to this wallet');
      await mineUntil(page, 'Paid. Thank you!');
      const asked = (method: string) => wallet.calls.filter((one) => one === method).length;
      expect([asked('eth_sendTransaction'), asked('personal_sign')]).toEqual([1, 1]);
      expect(await shop.store.payment(payment_id)).toMatchObject({ amount_received: PRICE * TOKEN });
      expect(faults).toEqual([]);
      await page.context().close();
    });

    test('two tabs, an answer that never comes and one that comes late: nothing is paid twice', async () => {
      const wallet = await newWallet(2n * UNITS);
      const { page, url, payment_id } = await opened(wallet);
      const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
      wallet.answer('eth_sendTransaction', async ([transaction]) => {
        await confirmed;
        return await wallet.send(Object(transaction));
      });
      await payWith(page);
      await says(page, 'Compare address and amount');
      const second = await page.context().newPage();
      await wallet.join(second);
      await second.goto(url);
      await payWith(second);
      await says(second, 'under way in another tab');
      await keep(second, 'wallet-10-other-tab');
      await page.getByRole('button', { name: 'Stop waiting' }).click();
      await says(page, 'does not answer any more. Check there for a payment');
      await keep(page, 'wallet-11-gone');
      confirm();
      await says(page, 'Sent. It waits for its block');
      expect(await page.getByRole('button', { name: BUTTON }).isDisabled()).toBe(true);
      // A page that is loaded again still knows it.
      const third = await page.context().newPage();
      await wallet.join(third);
      await third.goto(url);
      await says(third, 'Please do not pay again');
      await keep(third, 'wallet-14-loaded-again');
      await mineUntil(page, 'Paid. Thank you!');
      await second
        .getByRole('heading', { level: 1, name: 'Paid. Thank you!' })
        .waitFor({ timeout: TIMEOUT_MS });
      expect(wallet.calls.filter((method) => method === 'eth_sendTransaction')).toHaveLength(1);
      expect(await shop.store.payment(payment_id)).toMatchObject({ amount_received: PRICE * TOKEN });
      await page.context().close();
    });

    test.each([
      ['dropped', '0x0', 'does not know the transaction any more'],
      ['replaced', '0xffff', 'has replaced or canceled the transaction'],
    ])('a transaction that is %s is told', async (_name, after, text) => {
      const wallet = await newWallet();
      const { page, payment_id } = await opened(wallet, {
        prepare: async (page) => {
          await page.clock.install();
          await wallet.join(page);
        },
      });
      wallet.answer('eth_sendTransaction', () => `0x${'ab'.repeat(32)}`);
      let isSent = false;
      wallet.answer('eth_getTransactionCount', () => (isSent ? after : '0x0'));
      await payWith(page);
      await says(page, 'Sent.');
      isSent = true;
      const note = page.locator('.note').filter({ hasText: text });
      await expect
        .poll(async () => {
          await page.clock.runFor(3_000);
          return await note.count();
        }, WITHIN)
        .toBe(1);
      expect(await shop.store.payment(payment_id)).toMatchObject({ status: 'pending' });
      await page.context().close();
    });

    test('what a wallet said of a refusal is not shown below what the page says of a payment', async () => {
      const wallet = await newWallet();
      const { page, address } = await opened(wallet);
      wallet.answer('eth_accounts', () => [account(3).address]);
      await payWith(page);
      await says(page, 'does not let this page use the account');
      await shop.store.world.transfer('USDT', wallet.account, address, UNITS);
      await mineUntil(page, 'Paid. Thank you!');
      expect(await page.locator('.note').filter({ hasText: 'Nothing was paid' }).count()).toBe(0);
      await page.context().close();
    });

    test('who chooses another way while the wallet is asked is not warned of the page, and pays nothing', async () => {
      const wallet = await newWallet();
      const { page } = await opened(wallet);
      const { promise: isOpened, resolve: open } = Promise.withResolvers<void>();
      wallet.answer('eth_requestAccounts', async (params) => {
        await isOpened;
        return await wallet.usual('eth_requestAccounts', params);
      });
      await payWith(page);
      await says(page, 'let this page see your account');
      const back = page.url();
      await page.locator('.chip a').click();
      await expect.poll(() => page.url(), WITHIN).not.toBe(back);
      open();
      await expect.poll(() => wallet.calls.includes('eth_accounts'), WITHIN).toBe(true);
      await page.goBack();
      await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled(), WITHIN).toBe(true);
      expect(await page.getByText('Do not pay from this page').count()).toBe(0);
      expect(wallet.calls).not.toContain('eth_sendTransaction');
      await page.context().close();
    });

    test('a confirmation that comes after the waiting, and then fails, leaves the wallets free', async () => {
      const wallet = await newWallet();
      const { page } = await opened(wallet);
      const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
      const call = { to: '0x', data: '0x' };
      wallet.answer('eth_sendTransaction', async ([transaction]) => {
        Object.assign(call, transaction);
        await confirmed;
        return `0x${'cd'.repeat(32)}`;
      });
      wallet.answer('eth_getTransactionReceipt', () => ({ status: '0x0' }));
      wallet.answer('eth_getTransactionByHash', () => ({
        from: wallet.account.address,
        to: call.to,
        input: call.data,
        blockNumber: '0x1',
      }));
      await payWith(page);
      await says(page, 'Compare address and amount');
      await page.getByRole('button', { name: 'Stop waiting' }).click();
      await says(page, 'does not answer any more');
      confirm();
      await says(page, 'The network has refused the transaction');
      await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled(), WITHIN).toBe(true);
      await page.context().close();
    });

    test('what was sent a short while ago is told before another payment, whatever is due now', async () => {
      const wallet = await newWallet();
      const { page, address } = await opened(wallet);
      const note = `{ text: 'Sent before.', amount: '1.00', atMs: Date.now() }`;
      await page.evaluate(`localStorage.setItem('florin sent ${address}', JSON.stringify(${note}))`);
      await payWith(page);
      await says(page, 'Sent before.');
      expect(wallet.calls).toEqual([]);
      await payWith(page);
      await says(page, 'Sent. It waits for its block');
      await page.context().close();
    });

    test('a transaction that the token refuses is told, and the payer tries again', async () => {
      const wallet = await newWallet();
      const { page } = await opened(wallet);
      wallet.answer('eth_sendTransaction', async ([transaction]) => {
        const { to, data } = Object(transaction);
        const hash = await wallet.send({ to, data });
        wallet.answer('eth_getTransactionReceipt', () => ({ status: '0x0' }));
        wallet.answer('eth_getTransactionByHash', () => ({
          from: wallet.account.address,
          to,
          input: data,
          blockNumber: '0x1',
        }));
        return hash;
      });
      await payWith(page);
      await says(page, 'The network has refused the transaction. Nothing was paid');
      await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled(), WITHIN).toBe(true);
      await page.context().close();
    });
  },
);
