import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { historyCommands } from '../../packages/server/src/operator/history.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { decideAdoption, historyToAdopt } from '../../packages/server/src/transfers/history/history.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import {
  attemptsOf,
  expectPaidOnce,
  finishAll,
  NETWORKS,
  newPayout,
  statusOf,
  submitItems,
} from './payouts.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const POLL = { timeout: 60_000, interval: 200 };
const HISTORY = `select value ->> 'identity' as identity, value ->> 'history' as history from setting
  where name = 'transfers.history'`;
const readHistory = async () => (await asOwner<{ identity: string; history: string }>(service, HISTORY))[0];
/** As after a restore: the stored identity is that of another database. */
const becomeACopy = () =>
  asOwner(
    service,
    `update setting set value = value || '{"identity": "1/00000001/2/3"}' where name = 'transfers.history'`,
  );
const adopt = () => historyCommands(service.app).adoptHistory();

test('fault 76: a copy sends nothing until it is adopted, which succeeds where books and chains agree', {
  timeout: 180_000,
}, async () => {
  const identity = async () => (await readHistory())?.identity;
  await expect.poll(identity, POLL).toMatch(/^\d+\/[0-9A-F]{8}\/\d+\/\d+$/);
  expect(await adopt()).toEqual({ adopted: false });
  const own = await readHistory();
  await becomeACopy();
  const item = { to: 'succeed', amount: '10.00' } as const;
  const payouts = await Promise.all(NETWORKS.map((network) => newPayout(service, network, [item])));
  const states = async () => await Promise.all(payouts.map(statusOf));
  await expect.poll(states, POLL).toEqual(['processing', 'processing', 'processing']);
  await sleep(2_000);
  expect(await asOwner(service, 'select from transfer_attempt')).toEqual([]);
  expect(await adopt()).toEqual({ adopted: true });
  expect(await identity()).toBe(own?.identity);
  expect((await readHistory())?.history).not.toBe(own?.history);
  await finishAll(service, payouts, POLL.timeout);
  expect(await states()).toEqual(['completed', 'completed', 'completed']);
  await expectPaidOnce(service, payouts);
});

test('fault 76: unchecked it is adopted by the votes of two approvers of the installation, each once, on this very database', {
  timeout: 120_000,
}, async () => {
  const merchant = await service.createMerchant();
  const people = ['Ada Lovelace', 'Grace Hopper'];
  const tokens = await Promise.all(people.map((name) => addApprover(service.app, NIL_ID, name)));
  const say = (person: number) => {
    const unchecked = { as: people[person] ?? '', token: tokens[person] ?? '' };
    return historyCommands(service.app).adoptHistory({ unchecked });
  };
  expect(await say(0)).toEqual({ adopted: false });
  await becomeACopy();
  expect(await say(0)).toEqual({ adopted: false, agreed: 1, required: 2 });
  await expect(say(0)).rejects.toMatchObject({ code: 'invalid_request' });
  const stolen = { as: 'Grace Hopper', token: tokens[0] ?? '' };
  const ofMerchant = { as: 'Bob', token: await addApprover(service.app, merchant.merchantId, 'Bob') };
  for (const unchecked of [stolen, ofMerchant])
    await expect(historyCommands(service.app).adoptHistory({ unchecked })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('of the installation'),
    });
  expect(await say(1)).toEqual({ adopted: true, agreed: 2, required: 2 });
  // Their votes are used up: the next copy is another decision.
  await becomeACopy();
  expect(await say(1)).toEqual({ adopted: false, agreed: 1, required: 2 });
  expect(await say(0)).toEqual({ adopted: true, agreed: 2, required: 2 });
});

test('fault 76: an adoption that was interrupted after its decision continues when it is called again', {
  timeout: 120_000,
}, async () => {
  const payout = await newPayout(service, 'trc20', [{ to: 'succeed', amount: '10.00' }]);
  await finishAll(service, [payout], POLL.timeout);
  await becomeACopy();
  const { db } = service.app;
  await transact(db, async (tx) => decideAdoption(tx, await historyToAdopt(tx)));
  const next = await submitItems(service, payout.merchant, {
    network: 'trc20',
    items: [{ to: 'succeed', amount: '11.00' }],
  });
  await expect.poll(() => statusOf(next), POLL).toBe('processing');
  await sleep(1_000);
  expect(await attemptsOf(service, next)).toEqual([]);
  await expect(transact(db, async (tx) => decideAdoption(tx, 'another'))).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await adopt()).toEqual({ adopted: true });
  await finishAll(service, [next], POLL.timeout);
  await expectPaidOnce(service, [payout, next]);
});
