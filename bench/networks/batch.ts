import { randomUUID } from 'node:crypto';
import type { Asset, Network } from '@florin/contract/money';
import { post } from '../../packages/server/src/ledger/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { TestMerchant, TestService } from '../../test/service.ts';

/** With fees a batch of 200 is 202 tokens. */
const BALANCE = 100_000_000_000n;

interface Payer {
  service: TestService;
  merchant: TestMerchant;
}

/** Coins that the hot wallet holds become the merchant's. */
export async function credit(
  { service: { app }, merchant: { merchantId } }: Payer,
  network: Network,
  currency: Asset,
): Promise<void> {
  const cause = { type: 'fund', id: randomUUID() } as const;
  const coins = { debit: `custody:${network}`, credit: 'available', currency, network } as const;
  await transact(app.db, (tx) =>
    post(tx, merchantId, [{ ...coins, amount: BALANCE, cause }], app.clock.nowSeconds()),
  );
}

/** As little for each as a batch may pay. */
export const batchOf = (recipients: readonly string[], network: Network, currency: Asset) => ({
  currency,
  items: recipients.map((address) => ({ real_name: 'Ada Lovelace', network, address, amount: '0.01' })),
});
