import type { Refund } from '@florin/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { florinOf } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { refunds, TOKEN } from './requests.ts';

// Each command is a process of its own.

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const run = (...words: string[]) => florinOf(service, merchant).run(...words);
const ask = <T = Refund>(...words: string[]) => florinOf(service, merchant).ask<T>(...words);

test('a refund is created, shown and canceled; the amount is in tokens', async () => {
  const { id } = await refunds(service, merchant).paid();
  const part = ['--amount', '5.25', '--currency', 'usdt', '--reason', 'a broken cup'];
  const made = await ask('refunds', 'create', id, '--id', 'A-17-r1', ...part);
  expect(made).toMatchObject({ refund_id: 'A-17-r1', amount: 5_250_000, reason: 'a broken cup' });
  const again = await ask('refunds', 'create', id, '--id', 'A-17-r1', ...part);
  expect(again).toEqual(made);
  const { stdout } = await run('refunds', 'show', 'A-17-r1');
  expect(stdout).toMatch(/amount\s+5\.250000 USDT\n/);
  expect(stdout).toContain(made.claim_url);
  expect(await ask('refunds', 'cancel', 'A-17-r1')).toMatchObject({ status: 'canceled', claim_url: null });
  const rest = await ask('refunds', 'create', id);
  expect(rest).toMatchObject({ amount: 100 * TOKEN, status: 'pending' });
  const twice = await run('refunds', 'cancel', 'A-17-r1', '--json');
  expect([twice.code, JSON.parse(twice.stderr).error.code]).toEqual([1, 'invalid_request_error']);
  const wrong = await run('refunds', 'create', id, '--amount', '1');
  expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  expect((await run('refunds', 'create', id, '--amount', '1', '--currency', 'EUR')).code).toBe(2);
});

test.each(['refund.succeeded', 'refund.failed'])('trigger causes %s by a real refund', async (type) => {
  const { events } = await ask<{ events: string[] }>('trigger', type);
  expect(events).toHaveLength(1);
  expect(await merchant.sdk.events.retrieve(events[0] ?? '')).toMatchObject({ type });
});
