import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideApproval } from '../../packages/server/src/payouts/approvals/index.ts';
import { batchIdOf } from '../../packages/server/src/payouts/queries.ts';
import { addApprover, identifyApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { expectPaidOnce, finishAll, NETWORKS, newPayout, type Payout } from './payouts.ts';

// With one connection, a transaction that requests a second one waits for itself: the call ends as 503.

let service: TestService;
beforeAll(async () => {
  service = await startService({ poolSize: 1, worker: true });
});
afterAll(() => service.stop());

test('a transaction never requests a second connection of the pool: create, edit, submit, cancel', async () => {
  const merchant = await service.createMerchant();
  const { payouts } = merchant.sdk;
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const item = { network: 'erc20' as const, address: erc20.succeed, amount: '2.00' };
  const make = async (amount: string) =>
    await payouts.create({ currency: 'USDT', items: [item, { ...item, amount }] });
  const edited = await make('3.00');
  const [first] = (await payouts.items(edited.batch_id).page()).data;
  await payouts.updateItem(edited.batch_id, String(first?.item_id), { ...item, amount: '4.00' });
  await payouts.deleteItem(edited.batch_id, String(first?.item_id));
  await payouts.cancel(edited.batch_id);
  const large = await make('20000.00');
  expect(await payouts.submit(large.batch_id)).toMatchObject({ status: 'pending_approval' });
  expect(await payouts.cancel(large.batch_id)).toMatchObject({ status: 'canceled' });
  const approved = await make('20000.00');
  await payouts.submit(approved.batch_id);
  const { merchantId } = merchant;
  const token = await addApprover(service.app, merchantId, 'Ann');
  const { approverId } = await identifyApprover(service.app, merchantId, { name: 'Ann', token });
  const approval = { batchId: batchIdOf(approved.batch_id), approverId, decision: 'approved' as const };
  const actor = { merchantId, mode: 'sandbox' as const, clockOffset: 0 };
  expect(await decideApproval(service.app, actor, approval)).toMatchObject({ status: 'pending' });
  const risky = await payouts.create({
    currency: 'USDT',
    items: [{ ...item, address: erc20.risk_rejected }],
  });
  await expect(payouts.submit(risky.batch_id)).rejects.toMatchObject({ code: 'address_risk_rejected' });
});

test('a transaction never requests a second connection of the pool: process, send, settle, many at once', async () => {
  const payouts: Payout[] = await Promise.all(
    [...NETWORKS, ...NETWORKS].map((network) => newPayout(service, network)),
  );
  await finishAll(service, payouts);
  await expectPaidOnce(service, payouts);
  await expectLedgerWhole(service);
});
