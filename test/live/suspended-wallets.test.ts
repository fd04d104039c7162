import type { WalletText } from '@florin/pages';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { LiveStore } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const PRICE = 20 * TOKEN;

describe.skipIf(!hasAnvil())(
  'wallets at the pages of a suspended live merchant',
  { timeout: 120_000 },
  () => {
    let store: LiveStore;
    beforeAll(async () => {
      store = await LiveStore.start(undefined, { collector: true });
    }, 120_000);
    afterAll(() => store?.stop());

    /** Wallets that were proven, and mandates that were taken; a worker may have begun to charge one by then. */
    const taken = () =>
      asOwner<{ wallets: bigint; mandates: bigint }>(
        store.service,
        `select (select count(*) from payment where wallet_address is not null and session_id is not null) as wallets,
              (select count(*) from payment_method) as mandates`,
      );
    const post = async (url: string, fields: Record<string, string>) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams(fields),
      });
      return { status: answer.status, json: (await answer.json()) as unknown };
    };

    test('nothing is handed out and nothing is taken; afterwards it is', async () => {
      const { service, merchant } = store;
      const payer = await PayerWallet.start(store, 1_000n * BigInt(TOKEN));
      const { url } = await checkout(service, merchant).open({ amount: PRICE });
      const shown = await post(url, { option: 'USDT:erc20' });
      expect(shown.status).toBe(200);
      const subscription = await billing(service, merchant).make({
        currency: 'USDT',
        items: [item(PRICE, 'month', 'USDT')],
      });
      const page = subscription.checkout_url ?? '';
      const asked = await post(`${url}/wallet-text`, { account: payer.address, network: 'erc20' });
      const { text, token } = asked.json as WalletText;
      const proof = { token, signature: await payer.account.signMessage({ message: text }) };
      const offer = await payer.offer(page);
      await payer.approve(offer.steps[0].spender, BigInt(offer.steps[0].amount));
      const signature = await payer.sign(offer);
      const calls = [
        () => post(`${url}/wallet`, { address: '', amount: '' }),
        () => post(`${url}/wallet-text`, { account: payer.address, network: 'erc20' }),
        () => post(`${url}/wallet-proof`, proof),
        () => post(`${page}/mandate/offer`, { network: 'erc20', currency: 'USDT', wallet: payer.address }),
        () => payer.give(page, offer, signature),
      ];
      await setMerchantStatus(service.app, merchant.merchantId, 'suspended');
      for (const call of calls)
        expect(await call()).toMatchObject({
          status: 400,
          json: { error: { code: 'invalid_request_error' } },
        });
      expect(await taken()).toEqual([{ wallets: 0n, mandates: 0n }]);
      await setMerchantStatus(service.app, merchant.merchantId, 'active');
      for (const call of calls) expect(await call()).toMatchObject({ status: 200 });
      expect(await taken()).toEqual([{ wallets: 1n, mandates: 1n }]);
    });
  },
);
