import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../packages/server/src/app.ts';
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
