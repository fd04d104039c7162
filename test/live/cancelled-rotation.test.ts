import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { LiveStore, WITHIN } from './live-store.ts';
import { hotOf, lookAtRotation, passphraseFile, rotate, rotationOf, runRotate } from './rotating.ts';

const LONG = { timeout: 300_000 };

describe.skipIf(!hasAnvil())('a rotation whose command has died', () => {
  let store: LiveStore;
  let recipients = 0;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
    await store.paid(100);
  }, 120_000);
  afterAll(() => store?.stop());

  async function ordered() {
    recipients += 1;
    const address = freshAddress(900 + recipients);
    return { address, id: await store.submitted([{ address, amount: '2.00' }]) };
  }
  async function dieAt(point: string): Promise<void> {
    const env = { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point };
    const words = ['--passphrase-file', passphraseFile(), '--yes', '--json'];
    expect((await runRotate(store, words, { env })).code).toBe(null);
  }
  const cancel = () => runRotate(store, ['--cancel', '--json']);

  test(
    'fault 91: the old wallet stays closed and people are told; cancelled, it pays what has waited',
    LONG,
    async () => {
      await dieAt('rotate.closed');
      const { address, id } = await ordered();
      const early = await lookAtRotation(store);
      expect(early.lines).toEqual([]);
      expect(early.waitMs).toBeGreaterThan(1_000_000);
      await asOwner(store.service, 'update wallet_rotation set created_at = created_at - 3600', []);
      const late = await lookAtRotation(store);
      expect(late.lines).toHaveLength(1);
      expect(late.lines[0]).toContain('--cancel');
      await expect.poll(() => store.batch(id), WITHIN).toMatchObject({ status: 'processing' });

      const { code, stdout } = await cancel();
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: 'not_begun', epoch: 1, from: hotOf(0) });
      expect(await rotationOf(store)).toEqual({});
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await store.world.balance('USDT', address)).toBe(2_000_000n);
      expect((await cancel()).stderr).toContain('nothing to cancel');
    },
  );

  test(
    'once the signer has begun the new wallet there is no way back, and the rotation goes on',
    LONG,
    async () => {
      await dieAt('rotate.begun');
      const { code, stderr } = await cancel();
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining('to its end')]);
      await expect.poll(() => rotationOf(store), WITHIN).toEqual({ status: 'closing', epoch: 1 });
      const { address, id } = await ordered();
      expect(await rotate(store)).toMatchObject({ status: 'moving', epoch: 1, to: hotOf(1) });
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await store.world.balance('USDT', address)).toBe(2_000_000n);
      await store.expectSettled();
    },
  );
});
