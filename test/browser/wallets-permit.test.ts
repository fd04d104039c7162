import { parseEther } from 'viem';
import { describe, expect, test } from 'vitest';
import { freshAddress } from '../contracts/local-node.ts';
import { WITHIN } from '../live/live-store.ts';
import { PayerWallet, sendPermit } from '../live/payer-wallet.ts';
import { item } from '../subscriptions/billing.ts';
import { expectAccessible } from './checkout-driver.ts';
import { refusal } from './scripted-wallet.ts';
import { PRICE, subscribeDriver } from './subscribe-driver.ts';
import { hasWallets, TIMEOUT_MS, UNITS, walletShop } from './wallet-shop.ts';

describe.skipIf(!hasWallets())('a subscription in USDC, by two signatures', { timeout: 180_000 }, () => {
  const shop = walletShop({ collector: true });
  const { keep, newWallet, says } = shop;
  const { opened, begin, sign, mineUntil } = subscribeDriver(shop);

  test('a payer of USDC signs twice, pays no fee, and is charged', async () => {
    const wallet = await newWallet(10n * UNITS, 'USDC');
    const { page, faults, read } = await opened(wallet, {}, 'USDC');
    await begin(page);
    await page.getByText('At most each month').waitFor({ timeout: TIMEOUT_MS });
    expect(await page.locator('dl').innerText()).toMatch(/Approved in advance\s+960\.00\sUSDC/);
    await page.getByText('Test Fox asks for two signatures').waitFor();
    await keep(page, 'permit-1-terms');
    await expectAccessible(page);
    const asked: unknown[] = [];
    wallet.answer('eth_signTypedData_v4', ([, text]) => {
      asked.push(JSON.parse(String(text)));
      throw refusal();
    });
    await sign(page);
    await says(page, 'You refused in Test Fox');
    wallet.answer('eth_signTypedData_v4', async (params) => {
      asked.push(JSON.parse(String(params[1])));
      return await wallet.usual('eth_signTypedData_v4', params);
    });
    await sign(page);
    await mineUntil(page, 'Your payment is on its way');
    await shop.store.until(read, { status: 'active' });
    const documents = asked.map((one) => Object(one).primaryType);
    expect(documents).toEqual(['Permit', 'Permit', 'Mandate']);
    expect(asked[1]).toMatchObject({
      domain: { name: 'USD Coin', version: '2', chainId: 31_337 },
      message: { value: '960000000', nonce: '0', owner: wallet.account.address },
    });
    expect(wallet.calls).not.toContain('eth_sendTransaction');
    await page.reload();
    await page.getByRole('heading', { name: 'Your subscription has begun' }).waitFor({ timeout: TIMEOUT_MS });
    await keep(page, 'permit-2-begun');
    expect(faults).toEqual([]);
    await page.context().close();
    await shop.store.expectSettled();
  });

  test('a wallet that holds less than is due is told so, and nothing begins', async () => {
    const wallet = await newWallet(10n * UNITS, 'USDC');
    const held = await shop.store.world.balance('USDC', wallet.account.address);
    await shop.store.world.client.setBalance({ address: wallet.account.address, value: parseEther('1') });
    await shop.store.world.transfer('USDC', wallet.account, freshAddress(12), held);
    const { page, read } = await opened(wallet, {}, 'USDC');
    await begin(page);
    await sign(page);
    await says(page, 'The account holds less than is due now.');
    await page.getByRole('button', { name: 'Continue with Test Fox' }).waitFor();
    await keep(page, 'permit-6-no-funds');
    await expectAccessible(page);
    expect(await read()).toMatchObject({ status: 'incomplete' });
    await page.context().close();
  });

  test('an approval that is signed otherwise, or changed on the page, is refused in words', async () => {
    const wallet = await newWallet(10n * UNITS, 'USDC');
    const { page, read } = await opened(wallet, {}, 'USDC');
    let lastPermit = JSON.parse('{}');
    await begin(page);
    // It signs another amount than it was handed.
    wallet.answer('eth_signTypedData_v4', ([, text]) => {
      const document = JSON.parse(String(text));
      if (document.primaryType === 'Permit') document.message.value = '1';
      return wallet.account.signTypedData(document);
    });
    await sign(page);
    await says(page, 'The signed approval does not match this account, amount and token. Nothing has begun.');
    await keep(page, 'permit-3-other-bytes');
    await expectAccessible(page);
    await page.context().close();
    // Another permit of the wallet is used up between the terms and the signature.
    const overtaken = await opened(wallet, {}, 'USDC');
    wallet.answer('eth_signTypedData_v4', async (params) => {
      const document = JSON.parse(String(params[1]));
      if (document.primaryType === 'Mandate') {
        const other = { ...lastPermit, message: { ...lastPermit.message, value: '1' } };
        await sendPermit(shop.store.world, other.message, await wallet.account.signTypedData(other));
      } else lastPermit = document;
      return await wallet.usual('eth_signTypedData_v4', params);
    });
    await begin(overtaken.page);
    await sign(overtaken.page);
    await says(overtaken.page, 'The signed approval is too old, or another one came before it.');
    await overtaken.page.getByRole('button', { name: 'Continue with Test Fox' }).waitFor();
    await keep(overtaken.page, 'permit-4-overtaken');
    await overtaken.page.context().close();
    const changes = [
      'permit.domain.verifyingContract = permit.message.owner',
      'permit.domain.chainId = 1',
      "permit.message.value = '999000000000'",
      'permit.message.spender = permit.message.owner',
      'permit.message.owner = permit.message.spender',
      'permit.message.nonce = 7',
      "permit.message.deadline = '99999999999'",
      "permit.primaryType = 'Mandate'",
    ];
    for (const change of changes) {
      const initScript = `(() => {
        const real = window.fetch;
        window.fetch = async (url, init) => {
          const offer = await (await real(url, init)).json();
          const permit = JSON.parse(offer.steps[0].typed_data);
          ${change};
          offer.steps[0].typed_data = JSON.stringify(permit);
          return new Response(JSON.stringify(offer));
        };
      })()`;
      const changed = await opened(wallet, { initScript }, 'USDC');
      await begin(changed.page);
      await says(changed.page, 'The terms are not those of this page, so nothing was signed.');
      await changed.page.context().close();
    }
    const swapped = await opened(wallet, {}, 'USDC');
    await begin(swapped.page);
    await swapped.page.locator('[data-exact=approval]').waitFor({ timeout: TIMEOUT_MS });
    await swapped.page.evaluate(
      "document.querySelector('[data-exact=approval]').firstChild.data = '1.00\u00a0USDC'",
    );
    await sign(swapped.page);
    await swapped.page.getByText('Do not pay from this page').waitFor({ timeout: TIMEOUT_MS });
    await swapped.page.context().close();
    expect(await read()).toMatchObject({ status: 'incomplete' });
  });

  test('a plan that grew while the page was open is shown anew before anything is signed for it', async () => {
    const wallet = await newWallet(10n * UNITS, 'USDC');
    const { page, calls, id, read, url } = await opened(wallet, {}, 'USDC');
    // Plans change once the first payment is made, here by another wallet.
    const first = await PayerWallet.start(shop.store, 10n * UNITS, 'USDC');
    await first.subscribe({ checkout_url: url });
    await shop.store.until(read, { status: 'active' });
    const { payment_method_id: before } = await read();
    const choose = async () => {
      await page.goto(`${url}?lang=en`);
      await page.locator('summary').filter({ hasText: 'Use another wallet' }).click();
      await begin(page);
    };
    const cap = page.locator('[data-exact=cap]');
    await choose();
    await cap.waitFor({ timeout: TIMEOUT_MS });
    await calls.update(id, { items: [item(3 * PRICE, 'month', 'USDC')] });
    await sign(page);
    await says(page, 'The terms have changed meanwhile.');
    await keep(page, 'permit-5-changed');
    expect(await cap.count()).toBe(0);
    expect(await read()).toMatchObject({ payment_method_id: before });
    await begin(page);
    await cap.waitFor({ timeout: TIMEOUT_MS });
    expect(await cap.textContent()).toBe('120.00\u00a0USDC');
    await sign(page);
    await expect.poll(async () => (await read()).payment_method_id, WITHIN).not.toBe(before);
    await page.context().close();
  });

  test('what a wallet signs after its payer has stopped waiting is not handed in', async () => {
    const wallet = await newWallet(10n * UNITS, 'USDC');
    const { page, read } = await opened(wallet, {}, 'USDC');
    const handed: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/mandate/sign')) handed.push(request.url());
    });
    for (const [kind, word] of [
      ['Permit', 'Sign the approval in Test Fox.'],
      ['Mandate', 'Sign the terms in Test Fox.'],
    ] as const) {
      const late = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      wallet.answer('eth_signTypedData_v4', async (params) => {
        const isLate = JSON.parse(String(params[1])).primaryType === kind;
        if (isLate) await late.promise;
        try {
          return await wallet.usual('eth_signTypedData_v4', params);
        } finally {
          if (isLate) answered.resolve();
        }
      });
      await begin(page);
      await sign(page);
      await says(page, word);
      await page.getByRole('button', { name: 'Stop waiting' }).click();
      await says(page, 'does not answer any more');
      late.resolve();
      await answered.promise;
      // A later question of the page comes after what the late answer could have led to.
      await begin(page);
      await page.locator('[data-exact=cap]').waitFor({ timeout: TIMEOUT_MS });
      await page.getByRole('button', { name: 'Use another wallet' }).click();
    }
    expect(handed).toEqual([]);
    expect(await read()).toMatchObject({ status: 'incomplete' });
    wallet.answer('eth_signTypedData_v4', (params) => wallet.usual('eth_signTypedData_v4', params));
    await begin(page);
    await sign(page);
    await mineUntil(page, 'Your payment is on its way');
    await shop.store.until(read, { status: 'active' });
    expect(handed).toHaveLength(1);
    await page.context().close();
  });
});
