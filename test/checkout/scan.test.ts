import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../packages/server/src/app.ts';
import { listDueAddresses } from '../../packages/server/src/payments/deposits/deposit-queries.ts';
import { WatchedAddresses } from '../../packages/server/src/payments/deposits/watched-addresses.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { startService, type TestService } from '../service.ts';
import { Shop } from './shop.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('fault 67: a network counts as scanned only once its seen transfers are stored', async () => {
  const shop = await Shop.open(service);
  const { deps, merchant } = shop;
  const due = await shop.due();
  await shop.send(due.address);
  const readAt = async () => {
    const cursor = deps.db
      .selectFrom('deposit_cursor')
      .select('read_at')
      .where('merchant_id', '=', merchant.merchantId);
    return Number((await cursor.executeTakeFirstOrThrow()).read_at);
  };
  const readWhileUnwritten: number[] = [];
  // Senders are judged just before their transfers are written.
  const screen: App['screen'] = async (...asked) => {
    readWhileUnwritten.push(await readAt());
    return await deps.screen(...asked);
  };
  await shop.scan('erc20', { ...deps, screen });
  expect(readWhileUnwritten).toEqual([0]);
  expect(await readAt()).toBe(shop.now);
  expect((await shop.payment(due)).status).toBe('processing');
});

test('an empty scan writes nothing', async () => {
  const shop = await Shop.open(service);
  const { merchantId } = shop.merchant;
  expect(await shop.scan()).toBe(0);
  await shop.due();
  // The first look reads the chain from its beginning.
  await shop.scan();
  const versions = async () => {
    const { rows } = await sql`
      select 'cursor', xmin::text, ctid::text from deposit_cursor where merchant_id = ${merchantId}
      union all select 'chain', xmin::text, ctid::text from simchain.chain where merchant_id = ${merchantId}
      union all select 'payment', xmin::text, ctid::text from payment where merchant_id = ${merchantId}`.execute(
      shop.deps.db,
    );
    return rows;
  };
  const before = await versions();
  for (const [waited, next] of [
    [1, 1_000],
    [19, 1_000],
    [20, 2_000],
    [15, 2_750],
  ] as const) {
    shop.wait(waited);
    expect(await shop.scan()).toBe(next);
  }
  expect(await versions()).toEqual(before);
});

test('addresses that somebody may still pay are asked for each time, all others by their number, once in a turn', async () => {
  const shop = await Shop.open(service);
  const on = { merchantId: shop.merchant.merchantId, network: 'erc20' } as const;
  const all = [await shop.due(), await shop.due(), await shop.due(), await shop.due()];
  const [first, second, third] = all;
  if (first === undefined || second === undefined || third === undefined) throw new Error('no payments');
  for (const { address } of [first, second]) await shop.send(address);
  await shop.settle();
  const due = async (count: number, begin = 0) => {
    const rows = await listDueAddresses(shop.deps.db, on, { seconds: 60, first: begin, count });
    return all.map(({ address }) => rows.some((row) => row.address === address));
  };
  expect(await due(0)).toEqual([false, false, true, true]);
  expect(await due(1)).toEqual([true, false, true, true]);
  expect(await due(1, 1)).toEqual([false, true, true, true]);
  expect(await due(2, 59)).toEqual([true, false, true, true]);
  expect(await due(60, 17)).toEqual([true, true, true, true]);
  // Late money that is not final yet is looked at each time.
  await shop.send(first.address);
  await shop.scan();
  expect(await due(0)).toEqual([true, false, true, true]);
  const watch = new WatchedAddresses(shop.deps.db, on, { seconds: 60, first: 0, count: 0 });
  await watch.each();
  const covers = ({ paymentId }: (typeof all)[number]) => watch.covers(decodeId('payment', paymentId) ?? '');
  expect(all.map(covers)).toEqual([true, false, true, true]);
});

test('a clock that ran ahead stops no look: the next one is recorded with the time that it is', async () => {
  const shop = await Shop.open(service);
  await shop.due();
  await shop.scan();
  const own = shop.deps.db.updateTable('deposit_cursor').where('merchant_id', '=', shop.merchant.merchantId);
  await own.set({ read_at: shop.now + 86_400 }).execute();
  shop.wait(1);
  await shop.scan();
  const read = shop.deps.db
    .selectFrom('deposit_cursor')
    .select('read_at')
    .where('merchant_id', '=', shop.merchant.merchantId);
  expect(Number((await read.executeTakeFirstOrThrow()).read_at)).toBe(shop.now);
});
