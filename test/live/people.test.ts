import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { refundCommands } from '../../packages/server/src/operator/refunds.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { LiveStore } from './live-store.ts';

const LONG = { timeout: 120_000 };
const SETTLES = { status: 'completed' };

describe.skipIf(!hasAnvil())('people whom the signer wants, asked before anything is taken', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(({ payouts, refunds }) => {
      Object.assign(payouts, { approve_above: '20.00', unapproved_per_day: '30.00' });
      Object.assign(refunds, { approve_above: '5.00', unapproved_per_day: '5.00' });
    });
  }, 120_000);
  afterAll(() => store?.stop());

  const to = (place: number, amount: string) => [{ address: freshAddress(place), amount }];
  const wanted = async (table: 'payout_batch' | 'refund') => {
    const rows = await asOwner<{ people: string }>(
      store.service,
      `select required_approvals || ' ' || coalesce(required_signatures::text, '-') as people from ${table}
       where merchant_id = $1 order by created_at desc, ${table === 'refund' ? 'refund_id' : 'batch_id'} desc limit 1`,
      [store.merchant.merchantId],
    );
    return rows[0]?.people;
  };

  test(
    'the signer’s sum and day decide where the settings want nobody, and the larger number of people counts',
    LONG,
    async () => {
      await store.paid(200);
      const above = await store.submitted(to(900, '20.01'));
      expect(await store.batch(above)).toMatchObject({ status: 'pending_approval' });
      expect(await wanted('payout_batch')).toBe('1 1');

      const within = await store.submitted(to(901, '20.00'));
      expect(await store.batch(within)).toMatchObject({ status: 'pending' });
      expect(await wanted('payout_batch')).toBe('0 0');
      // Not signed yet, and counted all the same.
      const rest = await store.submitted(to(902, '10.01'));
      expect(await store.batch(rest)).toMatchObject({ status: 'pending_approval' });
      await store.until(() => store.batch(within), SETTLES);
      // Now by what the signer has signed.
      const last = await store.submitted(to(903, '10.01'));
      expect(await store.batch(last)).toMatchObject({ status: 'pending_approval' });
      const fits = await store.submitted(to(904, '10.00'));
      expect(await store.batch(fits)).toMatchObject({ status: 'pending' });

      await settingCommands(store.service.app).set('payouts.approval_above', '1.00');
      await settingCommands(store.service.app).set('payouts.approvals', '2');
      await store.submitted(to(905, '21.00'));
      expect(await wanted('payout_batch')).toBe('2 1');
      await settingCommands(store.service.app).set('payouts.approval_above', '10000.00');
      expect((await payoutCommands(store.service.app).list({ status: 'pending_approval' })).length).toBe(4);
    },
  );

  test('a refund above the signer’s sum waits in pending, and is listed for approvers', LONG, async () => {
    const { paymentId } = await store.paid(40);
    const calls = refunds(store.service, store.merchant);
    const refund = (amount: number, address: string) =>
      calls.refund({ payment_id: paymentId, amount, currency: 'USDT', address });
    await settingCommands(store.service.app).set('refunds.delay_seconds', '0');
    const { refund_id: small } = await refund(5_000_000, freshAddress(910));
    expect(await wanted('refund')).toBe('0 0');
    await store.until(() => calls.read(small), { status: 'succeeded' });
    const { refund_id: large } = await refund(1_000_000, freshAddress(911));
    expect(await wanted('refund')).toBe('1 1');
    const waiting = await refundCommands(store.service.app).awaitingApproval();
    expect(waiting).toMatchObject([{ refund_id: large, required_approvals: 1 }]);
  });

  test(
    'without the signer’s answer nothing is taken: 503, and the batch and the payment are as before',
    LONG,
    async () => {
      const { paymentId } = await store.paid(30);
      const id = await store.drafted(to(920, '1.00'));
      await store.signer.stop();
      const balances = async () => (await store.merchant.sdk.balances.retrieve()).data;
      const before = await balances();
      expect(await caller(store.service, store.merchant).submit(id)).toMatchObject({
        status: 503,
        json: { errorCode: 'service_unavailable', message: expect.stringContaining('signer') },
      });
      expect(await store.batch(id)).toMatchObject({ status: 'draft' });
      const calls = refunds(store.service, store.merchant);
      const addressed = {
        refund_id: 'r-away',
        payment_id: paymentId,
        amount: 1_000_000,
        currency: 'USDT',
        address: freshAddress(921),
      };
      expect(await calls.create(addressed)).toMatchObject({ status: 503 });
      expect(await balances()).toEqual(before);
    },
  );
});
