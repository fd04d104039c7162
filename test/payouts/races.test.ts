import { NETWORKS } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { caller, draft, verdict } from './requests.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(() => expectLedgerWhole(service));

test('H2, fault 61: of many concurrent submits of 60 % of the balance, over two nodes, one is reserved', async () => {
  const poor = await service.createMerchant({ funds: 0n });
  for (const network of NETWORKS) {
    await poor.sdk.testHelpers.fund({ currency: 'USDT', network, amount: '100' });
  }
  const nodes = [caller(service, poor), caller(service, poor, await service.addNode())] as const;
  const batches = await Promise.all(
    Array.from({ length: scaled(500, 20) }, (_, i) =>
      draft(nodes[0], ['90', '90'], { network: 'erc20', to: i % 2 === 0 ? 'succeed' : 'stuck' }),
    ),
  );
  // 180.00 of 300.00 available, but only 100.00 on the network: every submit is refused.
  const none = await Promise.all(
    batches.map((batch, i) => nodes[i % 2 === 0 ? 0 : 1].submit(batch.batch_id)),
  );
  expect([...new Set(none.map(verdict))]).toEqual(['400 custody_balance_insufficient']);
  await poor.sdk.testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: '0.5' });
  await poor.sdk.testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: '299.5' });
  // Now 600.00, of which 400.00 on the network: 60 % of each is one batch of 360.00.
  const large = await Promise.all(
    Array.from({ length: scaled(500, 20) }, () => draft(nodes[0], ['180', '180'])),
  );
  const said = await Promise.all(large.map((batch, i) => nodes[i % 2 === 0 ? 0 : 1].submit(batch.batch_id)));
  const states = said.map(verdict);
  expect(states.filter((state) => state.startsWith('200'))).toHaveLength(1);
  expect(states.filter((state) => state === '400 insufficient_balance')).toHaveLength(states.length - 1);
  const { data } = await poor.sdk.balances.retrieve();
  const held = data.find((row) => row.currency === 'USDT');
  expect(held).toMatchObject({ payout_hold: 362_360_000, available: 237_640_000 });
});

test('fault 60: concurrent submit and cancel of one batch, and twenty submits of it: one effect', async () => {
  const calls = caller(service, await service.createMerchant());
  for (let round = 0; round < scaled(100, 5); round++) {
    const { batch_id } = await draft(calls, ['5']);
    const said = await Promise.all([
      ...Array.from({ length: 6 }, () => calls.submit(batch_id)),
      calls.cancel(batch_id),
    ]);
    const canceled = verdict(said.pop() as Awaited<ReturnType<typeof calls.cancel>>);
    const submits = said.map(verdict);
    expect(canceled).toBe('200 canceled');
    expect(submits.filter((state) => state === '200 pending').length).toBeLessThanOrEqual(1);
    expect(submits.filter((state) => !['200 pending', '400 batch_cannot_submit'].includes(state))).toEqual(
      [],
    );
    expect(await calls.read(batch_id)).toMatchObject({ status: 'canceled', frozen_amount: '0.00' });
  }
});

test('concurrent cancels and submits of many batches do not deadlock', async () => {
  const merchant = await service.createMerchant();
  const nodes = [caller(service, merchant), caller(service, merchant, await service.addNode())] as const;
  const before = await merchant.sdk.balances.retrieve();
  const waiting = await Promise.all(Array.from({ length: scaled(300, 12) }, () => draft(nodes[0], ['5'])));
  await Promise.all(waiting.map((batch) => nodes[0].submit(batch.batch_id)));
  const fresh = await Promise.all(waiting.map(() => draft(nodes[0], ['7'])));
  const started = performance.now();
  const said = await Promise.all([
    ...waiting.map((batch) => nodes[0].cancel(batch.batch_id)),
    ...fresh.map((batch) => nodes[1].submit(batch.batch_id)),
  ]);
  expect(said.map(verdict)).toEqual([
    ...waiting.map(() => '200 canceled'),
    ...fresh.map(() => '200 pending'),
  ]);
  // Two orders of locks would deadlock, and PostgreSQL needs a second to see one.
  expect(performance.now() - started).toBeLessThan(scaled(60_000, 10_000));
  await Promise.all(fresh.map((batch) => nodes[1].cancel(batch.batch_id)));
  expect(await merchant.sdk.balances.retrieve()).toEqual(before);
});
