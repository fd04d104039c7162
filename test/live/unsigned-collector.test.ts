import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { LiveStore } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

describe.skipIf(!hasAnvil())('a signer whose policy does not name the collector', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true, signsCharges: false });
  }, 240_000);
  afterAll(() => store?.stop());

  test('no wallet is asked for a mandate that nobody would sign charges for', async () => {
    const ordered = await billing(store.service, store.merchant).make({
      currency: 'USDC',
      items: [item(20 * TOKEN, 'month', 'USDC')],
    });
    const page = ordered.checkout_url ?? '';
    const html = await (await fetch(page)).text();
    expect(html).toContain('Pay only this period');
    expect(html).not.toContain('id="wallets"');
    const payer = await PayerWallet.start(store, 1n, 'USDC');
    await expect(payer.offer(page)).rejects.toThrow('does not charge wallets');
  });
});
