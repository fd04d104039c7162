import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { historyCommands } from '../../packages/server/src/operator/history.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { expectPaidOnce, finishAll, NETWORKS, newPayout, statusOf } from './payouts.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const PATIENCE = { timeout: 60_000, interval: 200 };
const HISTORY = `select value #>> '{}' as history from setting where name = 'transfers.history'`;
const readHistory = async () => (await asOwner<{ history: string }>(service, HISTORY))[0]?.history;
/** As after a restore: what the database remembers of itself is another's. */
const becomeACopy = () =>
  asOwner(service, `update setting set value = '"1/00000001"'::jsonb where name = 'transfers.history'`);
const adopt = () => historyCommands(service.app).adoptHistory({ unchecked: false });

test('fault 76: a copy sends nothing until it is adopted, which it is where books and chains agree', {
  timeout: 180_000,
}, async () => {
  await expect.poll(readHistory, PATIENCE).toMatch(/^\d+\/[0-9A-F]{8}$/);
  expect(await adopt()).toEqual({ adopted: false });
  const own = await readHistory();
  await becomeACopy();
  const item = { to: 'succeed', amount: '10.00' } as const;
  const payouts = await Promise.all(NETWORKS.map((network) => newPayout(service, network, [item])));
  const states = async () => await Promise.all(payouts.map(statusOf));
  await expect.poll(states, PATIENCE).toEqual(['processing', 'processing', 'processing']);
  await sleep(2_000);
  expect(await asOwner(service, 'select from transfer_attempt')).toEqual([]);
  expect(await adopt()).toEqual({ adopted: true });
  expect(await readHistory()).toBe(own);
  await finishAll(service, payouts, PATIENCE.timeout);
  expect(await states()).toEqual(['completed', 'completed', 'completed']);
  await expectPaidOnce(service, payouts);
});
