import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../../../../test/platform.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { countOpenTransactions, sumGiven } from './queries.ts';

let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

test('what the tank has given a rotated wallet counts to the ceiling with its fees, unless it was never in a block', async () => {
  const [merchant_id, rotation_id] = [newId(), newId()];
  const TOPS_UP = [
    ['succeeded', 9n, 'hot:0', 1n],
    ['sent', null, 'hot:0', 10n],
    // It reverted: the wallet has code that refuses ether, and its next try would count to nothing again.
    ['failed', 9n, 'hot:1', 100n],
    ['failed', null, 'hot:0', 1_000n],
    // Another transaction has used its sequence; the height is of the block that showed it.
    ['dead', 9n, 'hot:0', 100_000n],
    ['succeeded', 9n, undefined, 10_000n],
    ['succeeded', 9n, 'owner', 7n],
  ] as const;
  for (const [index, [status, height, to, amount]] of TOPS_UP.entries()) {
    const attempt_id = newId();
    await platform.db
      .insertInto('transfer_attempt')
      .values({
        merchant_id,
        attempt_id,
        group_id: rotation_id,
        network: 'erc20',
        currency: 'USDT',
        key_ref: 'tank',
        sender: 'tank',
        sequence: BigInt(index),
        ordinal: BigInt(index),
        status,
        height,
        fee_limit: '2000000',
        fee_native: status === 'sent' ? null : '1000000',
        item_ids: [attempt_id],
        movement: JSON.stringify({ kind: 'gas', amount: String(amount), ...(to && { to }) }),
        created_at: 1,
      })
      .execute();
  }
  expect(await sumGiven(platform.db, { merchant_id, rotation_id })).toEqual(
    new Map([
      ['hot:0', 3_000_011n],
      ['hot:1', 1_000_100n],
      ['owner', 1_000_007n],
    ]),
  );
});

test('a switch waits for whatever is on its way, but for what rotated wallets have sent and are sent', async () => {
  const merchant_id = newId();
  const gas = (to?: string) => JSON.stringify({ kind: 'gas', amount: '1', ...(to && { to }) });
  const COUNTED = [
    ['hot', 'sent', null],
    ['hot', 'signed', null],
    ['tank', 'sent', gas()],
    ['tank', 'sent', gas('owner')],
    ['tank', 'sent', null],
    ['tank', 'reserved', gas('hot:0')],
    ['hot:0', 'reserved', null],
  ] as const;
  const LEFT_OUT = [
    ['tank', 'sent', gas('hot:0')],
    ['hot:0', 'sent', null],
    ['hot', 'failed', null],
  ] as const;
  for (const [index, [key_ref, status, movement]] of [...COUNTED, ...LEFT_OUT].entries()) {
    const attempt_id = newId();
    await platform.db
      .insertInto('transfer_attempt')
      .values({
        merchant_id,
        attempt_id,
        group_id: newId(),
        network: 'erc20',
        currency: 'USDT',
        key_ref,
        sender: `another ${key_ref}`,
        sequence: BigInt(index),
        ordinal: BigInt(index),
        status,
        item_ids: [attempt_id],
        ...(movement !== null && { movement }),
        created_at: 1,
      })
      .execute();
  }
  expect(await countOpenTransactions(platform.db, { merchantId: merchant_id, network: 'erc20' })).toBe(
    COUNTED.length,
  );
});
