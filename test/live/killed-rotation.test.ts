import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { asOwner } from '../ledger.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { openWorker } from './killing.ts';
import { LiveStore } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';
import { endRotation, hotOf, passphraseFile, rotate, rotationOf, runRotate } from './rotating.ts';

const LONG = { timeout: 300_000 };
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
const COMMAND_POINTS = ['closed', 'begun', 'before-switch', 'switched', 'operator', 'home'].map(
  (point) => `rotate.${point}`,
);
const WORKER_POINTS = ['before', 'before-commit', 'after-commit'].map((point) => `rotation.${point}`);

describe.skipIf(!hasAnvil())('a rotation that is killed on the way', () => {
  let store: LiveStore;
  let worker: NodeUnderTest;
  let recipients = 0;

  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true, worker: false });
    worker = await openWorker(store);
    await worker.start();
    await store.paid(200);
    await pay();
  }, 240_000);
  afterAll(async () => {
    await worker?.close();
    await store?.stop();
  });

  async function pay(): Promise<void> {
    recipients += 1;
    const address = freshAddress(600 + recipients);
    const id = await store.submitted([{ address, amount: '1.50' }]);
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await store.world.balance('USDT', address)).toBe(1_500_000n);
  }

  /** The rotation has come to its end, and the wallet of before holds nothing. */
  async function expectRotated(epoch: number): Promise<void> {
    expect(await rotate(store)).toMatchObject({ status: 'moving', epoch, to: hotOf(epoch) });
    await store.expectBooksAgree();
    await pay();
    await endRotation(store);
    expect(await rotationOf(store)).toEqual({ status: 'done', epoch });
    for (let before = 0; before < epoch; before++)
      expect(await store.world.balance('USDT', hotOf(before))).toBe(0n);
    await store.expectSettled();
  }

  const presentEpoch = async () => (await rotationOf(store)).epoch ?? 0;

  test('fault 91: the command dies at each point, and goes on when it is run again', LONG, async () => {
    const epoch = (await presentEpoch()) + 1;
    const words = ['--passphrase-file', passphraseFile(), '--yes', '--json'];
    for (const point of COMMAND_POINTS) {
      const env = { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point };
      const { code, stdout } = await runRotate(store, words, { env });
      expect([point, code, stdout]).toEqual([point, null, '']);
      await store.expectBooksAgree();
    }
    await expectRotated(epoch);
  });

  test('fault 91: workers die at each point, and another brings the coins along', LONG, async () => {
    const epoch = (await presentEpoch()) + 1;
    await worker.kill();
    let rotated: Promise<unknown> | undefined;
    for (const crashPoint of WORKER_POINTS) {
      await worker.start({ crashPoint });
      rotated ??= rotate(store);
      expect(await worker.ended, crashPoint).toEqual({ signal: 'SIGKILL', code: null });
    }
    await worker.start();
    await rotated;
    await expectRotated(epoch);
    expect(worker.surprises).toEqual([]);
  });

  test('nothing was sent twice, and a mandate is charged by the wallet of today', LONG, async () => {
    const items = [item(PRICE, 'month', 'USDT')];
    const api = billing(store.service, store.merchant);
    const ordered = await api.make({ customer: 'customer-1', currency: 'USDT', items });
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(ordered);
    await store.until(() => api.read(ordered.id), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
    const failed = await asOwner(
      store.service,
      "select transfer_id from transfer where merchant_id = $1 and status = 'failed'",
      [store.merchant.merchantId],
    );
    expect(failed).toEqual([]);
    await store.expectSettled();
  });
});
