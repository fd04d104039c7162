import type { WebhookEvent } from '@florin/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
/** No journey ends with money that is nowhere. */
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function eventsOf(merchant: TestMerchant, resource: string): Promise<WebhookEvent[]> {
  const events: WebhookEvent[] = [];
  for await (const event of merchant.sdk.events.list({ resource })) events.push(event);
  return events.sort((a, b) => a.sequence - b.sequence);
}

test('each change of a batch that a reader sees is one event, in order, with what it was before', async () => {
  const merchant = await service.createMerchant();
  const { spl } = await merchant.sdk.testHelpers.addresses();
  const items = [spl.succeed, spl.fail].map((address) => ({
    network: 'spl' as const,
    address,
    amount: '2.00',
  }));
  const made = await merchant.sdk.payouts.create({ currency: 'USDC', description: 'May', items });
  const pending = await merchant.sdk.payouts.submit(made.batch_id);
  await merchant.sdk.testHelpers.advanceClock(60);
  const ended = await merchant.sdk.payouts.retrieve(made.batch_id);
  expect(ended.status).toBe('partially_completed');

  const events = await eventsOf(merchant, made.batch_id);
  expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i + 1));
  expect(events[0]?.data).toEqual({ object: made, previous_attributes: null });
  expect(events[1]?.data.object).toEqual(pending);
  expect(events[1]?.data.previous_attributes).toMatchObject({
    status: 'draft',
    can_submit: true,
    submitted_at: null,
  });
  expect(events.at(-1)?.data.object).toEqual(ended);
  for (const [i, event] of events.entries()) {
    const before = events[i - 1]?.data.object;
    if (before === undefined) continue;
    expect({ ...event.data.object, ...event.data.previous_attributes }).toEqual(before);
    expect(event.data.object).not.toEqual(before);
  }
});

test('a refused submit that found something is news; one that found nothing new is none', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20' as const, address: erc20.risk_rejected, amount: '2.00' }];
  const { batch_id } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  await expect(merchant.sdk.payouts.submit(batch_id)).rejects.toMatchObject({
    code: 'address_risk_rejected',
  });
  await expect(merchant.sdk.payouts.submit(batch_id)).rejects.toMatchObject({ code: 'batch_cannot_submit' });
  const events = await eventsOf(merchant, batch_id);
  expect(events.map((event) => event.data.object.status)).toEqual(['draft', 'needs_fix']);
});

test('a replayed create is no news', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const body = {
    currency: 'USDT' as const,
    items: [{ network: 'erc20' as const, address: erc20.succeed, amount: '2' }],
  };
  const first = await merchant.sdk.payouts.create(body, { idempotencyKey: 'once' });
  await merchant.sdk.payouts.create(body, { idempotencyKey: 'once' });
  expect(await eventsOf(merchant, first.batch_id)).toHaveLength(1);
});

test('events belong to the store whose key made the batch', async () => {
  const merchant = await service.createMerchant();
  const other = await service.addStore(merchant);
  const stranger = await service.createMerchant({ funds: 0n });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20' as const, address: erc20.succeed, amount: '2.00' }];
  const { batch_id } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  await other.sdk.payouts.cancel(batch_id);
  const events = await eventsOf(merchant, batch_id);
  expect(events.map((event) => event.data.object.status)).toEqual(['draft', 'canceled']);
  expect(events[1]?.data.previous_attributes).toEqual({ status: 'draft', can_submit: true });
  const id = events[0]?.id ?? '';
  expect(await merchant.sdk.events.retrieve(id)).toEqual(events[0]);
  await expect(other.sdk.events.retrieve(id)).rejects.toMatchObject({ status: 403 });
  await expect(stranger.sdk.events.retrieve(id)).rejects.toMatchObject({ status: 404 });
  expect((await other.sdk.events.list().page()).data).toEqual([]);
});
