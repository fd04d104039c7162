import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../../../../test/platform.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { transact } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { createMerchant } from '../index.ts';
import { addApprover, listApprovers, removeApprover } from './index.ts';
import type { Vote } from './votes.ts';
import { castVote } from './votes.ts';

let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

async function merchantWithApprovers(...names: string[]) {
  const { merchantId } = await createMerchant(platform, { name: 'M', mode: 'sandbox' });
  for (const name of names) await addApprover(platform, merchantId, name);
  const approvers = await listApprovers(platform, merchantId);
  const cast = (name: string, vote: Partial<Vote> = {}) => {
    const approverId = approvers.find((approver) => approver.name === name)?.approver_id ?? newId();
    const whole = { action: 'networks.test', subject: 'erc20 5.00 a', decision: 'book', approverId, ...vote };
    return transact(platform.db, (tx) => castVote(tx, merchantId, whole, 1));
  };
  return { merchantId, cast };
}

test('two approvers with the same vote decide, one who votes twice does not', async () => {
  const { cast } = await merchantWithApprovers('Ann', 'Bob');
  expect(await cast('Ann')).toEqual({ agreed: 1, required: 2, isDone: false });
  await expect(cast('Ann')).rejects.toThrow('You have decided on this before.');
  await expect(cast('Ann', { decision: 'leave' })).rejects.toThrow('You have decided on this before.');
  expect(await cast('Bob')).toEqual({ agreed: 2, required: 2, isDone: true });
});

test('a vote may require more approvers than two, or one', async () => {
  const { cast } = await merchantWithApprovers('Ann', 'Bob', 'Cid');
  expect(await cast('Ann', { subject: 'one', required: 1 })).toEqual({
    agreed: 1,
    required: 1,
    isDone: true,
  });
  const three = { subject: 'three', required: 3 };
  expect([await cast('Ann', three), await cast('Bob', three)].map(({ isDone }) => isDone)).toEqual([
    false,
    false,
  ]);
  expect(await cast('Cid', three)).toEqual({ agreed: 3, required: 3, isDone: true });
});

test('votes for another decision, subject, action or merchant do not add up', async () => {
  const { cast } = await merchantWithApprovers('Ann', 'Bob');
  const other = await merchantWithApprovers('Ann', 'Bob');
  await cast('Ann');
  const strangers = [
    cast('Bob', { decision: 'leave' }),
    cast('Bob', { subject: 'erc20 5.00 b' }),
    cast('Bob', { action: 'networks.other' }),
    other.cast('Bob'),
  ];
  for (const { agreed, isDone } of await Promise.all(strangers))
    expect({ agreed, isDone }).toEqual({ agreed: 1, isDone: false });
});

test('a removed approver has no vote, and earlier votes do not count', async () => {
  const { merchantId, cast } = await merchantWithApprovers('Ann', 'Bob', 'Cleo');
  await cast('Ann');
  await removeApprover(platform, merchantId, 'Ann');
  expect(await cast('Bob')).toEqual({ agreed: 1, required: 2, isDone: false });
  await expect(cast('Ann', { subject: 'another' })).rejects.toThrow('This approver was removed.');
  expect(await cast('Cleo')).toEqual({ agreed: 2, required: 2, isDone: true });
});

test('of concurrent votes exactly one carries the decision out', async () => {
  const { cast } = await merchantWithApprovers('Ann', 'Bob');
  for (let round = 0; round < 20; round += 1) {
    const subject = `round ${round}`;
    const counts = await Promise.all([cast('Ann', { subject }), cast('Bob', { subject })]);
    expect(
      counts.filter(({ isDone }) => isDone),
      subject,
    ).toHaveLength(1);
  }
});
