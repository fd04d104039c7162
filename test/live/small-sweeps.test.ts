import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { LiveStore } from './live-store.ts';

/** The least that a networks file may say: four addresses fit into a sweep, five do not. */
const GAS_PER_TRANSACTION = 1_000_000n;

describe.skipIf(!hasAnvil())('a network whose ceiling of gas lets few addresses into a sweep', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { gasPerTransaction: GAS_PER_TRANSACTION });
  }, 120_000);
  afterAll(() => store?.stop());

  test('more addresses than fit into a transaction are swept by several', { timeout: 180_000 }, async () => {
    const { world } = store;
    const sessions = [];
    for (const tokens of [10, 11, 12, 13, 14]) sessions.push(await store.open(tokens));
    for (const { address, due } of sessions) await world.mint('USDT', address, due);
    for (const { paymentId } of sessions)
      await store.until(() => store.payment(paymentId), { status: 'completed' });
    // Four of the addresses do not hold enough.
    const id = await store.submitted([{ address: freshAddress(720), amount: '55.00' }]);
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await world.balance('USDT', freshAddress(720))).toBe(55_000_000n);
    await store.expectSettled();
  });

  test('an address that the token has blocked costs two sweeps and is then left alone for a while', {
    timeout: 180_000,
  }, async () => {
    const { world, service, merchant } = store;
    const session = await store.open(40);
    await world.list('USDT', session.address);
    await world.mint('USDT', session.address, session.due);
    await store.until(() => store.payment(session.paymentId), { status: 'completed' });
    const id = await store.submitted([{ address: freshAddress(721), amount: '30.00' }]);
    const failed = (columns: string) =>
      asOwner(
        service,
        `select ${columns} from transfer where merchant_id = $1 and owner_type = 'sweep' and status = 'failed'`,
        [merchant.merchantId],
      );
    await store.until(() => failed('status'), [{}, {}]);
    for (let i = 0; i < 20; i++) await store.until(() => store.batch(id), { status: 'processing' });
    expect(await failed('status')).toHaveLength(2);
    // Unblocked, and the while is over.
    await world.own('USDT', 'removeBlackList', [session.address]);
    await asOwner(service, "update transfer set completed_at = completed_at - 86400 where status = 'failed'");
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await world.balance('USDT', freshAddress(721))).toBe(30_000_000n);
    await store.expectSettled();
  });
});
