import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNetworkState } from '../../packages/server/src/payments/deposits/deposit-queries.ts';
import { FINAL_BLOCKS } from '../chains/tron/environment.ts';
import { scanOnce } from '../checkout/deposits-by-hand.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { moveClock } from '../transfers/payouts.ts';
import { TronStore } from './tron-store.ts';

const HOURS = 3_600;

/** Nobody is expected to pay, and nothing has come for hours. */
describe.skipIf(!hasAnvil())('looks at a quiet network', () => {
  let store: TronStore;
  beforeAll(async () => {
    store = await TronStore.start({ worker: false });
  }, 60_000);
  afterAll(() => store?.stop());

  const look = () => scanOnce(store.service.app, store.merchant.merchantId, 'trc20');
  const callsOf = async (act: () => Promise<void>): Promise<Record<string, number>> => {
    const { calls } = store.local.node.endpoint.faults;
    const before = new Map(calls);
    await act();
    return Object.fromEntries(
      [...calls].flatMap(([method, times]) => {
        const more = times - (before.get(method) ?? 0);
        return more === 0 ? [] : [[method, more]];
      }),
    );
  };
  const readAt = async () => {
    const on = { merchantId: store.merchant.merchantId, network: 'trc20' as const };
    return (await readNetworkState(store.service.app.db, on, 0))?.read_at;
  };

  test('read what is final alone, credit late money once, and say that they have read only where they have', async () => {
    const { service, merchant, local } = store;
    const { paymentId, to } = await store.pay(20);
    await local.mine(FINAL_BLOCKS);
    // What was read when the payment was expected a moment ago is not enough.
    await store.chain.blockHashes([], 'now');
    await look();
    expect(await store.payment(paymentId)).toMatchObject({ status: 'completed' });
    await look();
    await moveClock(service, { merchant }, 5 * HOURS);
    // No snapshot of a moment ago is taken for one: the node is asked as of now, and what is in newer blocks is not asked for.
    await local.pay([{ from: local.wallet('a payer'), to, asset: 'USDT', amount: 3n * BigInt(TOKEN) }]);
    const calls = await callsOf(look);
    expect(
      Object.keys(calls).filter((method) => method.startsWith('wallet/') && method !== 'wallet/getblock'),
    ).toEqual([]);
    expect((await checkout(service, merchant).payment(paymentId)).amount_received).toBe(20 * TOKEN);
    await local.mine(FINAL_BLOCKS);
    // A reading of minutes ago is enough: nothing is asked, and nothing is said to be read.
    const before = await readAt();
    await moveClock(service, { merchant }, 60);
    expect(await callsOf(look)).toEqual({});
    expect(await readAt()).toBe(before);
    expect((await checkout(service, merchant).payment(paymentId)).amount_received).toBe(20 * TOKEN);
    // As after these minutes: whoever needs one now has it read.
    await store.chain.blockHashes([], 'now');
    for (let i = 0; i < 2; i++) await look();
    expect((await checkout(service, merchant).payment(paymentId)).amount_received).toBe(23 * TOKEN);
    expect(await readAt()).not.toBe(before);
    const seen = 'select status from payment_transaction where merchant_id = $1';
    expect(await asOwner(service, seen, [merchant.merchantId])).toEqual([
      { status: 'final' },
      { status: 'final' },
    ]);
    await store.expectBooksAgree();
  });
});
