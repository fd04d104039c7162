import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EVENT_CATALOGUE, type EventEntry } from '@florin/contract/event-catalogue';
import {
  EVENT_TYPES,
  OPT_IN_EVENT_TYPES,
  type RecordedEventType,
  TEST_EVENT_TYPE,
} from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BILLING_RECIPES } from '../../packages/cli/src/billing-triggers.ts';
import { RECIPES } from '../../packages/cli/src/triggers.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { lose, resume } from '../custody/lost.ts';
import { methodCalls, newMethod } from '../payment-methods/requests.ts';
import { TO } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { submitItems } from '../transfers/payouts.ts';

const POLL = { timeout: 60_000, interval: 200 };
const ROOT = path.resolve(import.meta.dirname, '..', '..');

let service: TestService;
let merchant: TestMerchant;
let shop: ReturnType<typeof refunds>;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  shop = refunds(service, merchant);
});
afterAll(() => service.stop());

const entries = Object.entries(EVENT_CATALOGUE) as [RecordedEventType, EventEntry][];
const built = entries.filter(([, entry]) => entry.built).map(([type]) => type);

/** A payment is refunded to a test address. */
async function refundTo(fate: 'succeed' | 'fail'): Promise<string> {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await shop.paid();
  const { refund_id } = await shop.refund({ payment_id: id, address: erc20[fate] });
  await shop.ended(refund_id);
  return refund_id;
}

/** For each type that is built the change that causes it. @returns the resource's id */
const CHANGES: Partial<Record<RecordedEventType, () => Promise<string>>> = {
  'payment.completed': async () => (await shop.pay((await shop.open()).id)).id,
  'payment.failed': async () => (await shop.pay((await shop.open()).id, { from: 'sanctioned' })).id,
  'payment.expired': async () => {
    const { payment_id } = await shop.open({ expires_in: 300 });
    await merchant.sdk.testHelpers.advanceClock(301);
    return payment_id;
  },
  'payment.cancelled': async () => (await shop.cancelSession((await shop.open()).id)).payment_id,
  'payment.updated': async () => (await shop.pay((await shop.open()).id, { final: false })).id,
  'refund.succeeded': () => refundTo('succeed'),
  'refund.failed': () => refundTo('fail'),
  ...Object.fromEntries(
    Object.entries(BILLING_RECIPES).map(([type, cause]) => [
      type,
      async () => (await cause(merchant.sdk)).resource,
    ]),
  ),
  'webhook_endpoint.disabled': async () => {
    const { webhookEndpoints } = merchant.sdk;
    const { id } = await webhookEndpoints.create({ url: 'https://disabled.example/' });
    await webhookEndpoints.update(id, { status: 'disabled' });
    return id;
  },
  'payout_batch.updated': async () => {
    const { spl } = await merchant.sdk.testHelpers.addresses();
    const items = [{ network: 'spl', address: spl.succeed, amount: '5.00' } as const];
    return (await merchant.sdk.payouts.create({ currency: 'USDT', items })).batch_id;
  },
  'payout_item.updated': async () => {
    const lost = await submitItems(service, merchant, {
      network: 'spl',
      items: [{ to: 'succeed', amount: '5.00' }],
    });
    await lost.chain.mine(20);
    const { payouts } = merchant.sdk;
    const status = async () => {
      await lost.chain.mine(3);
      return (await payouts.retrieve(lost.batchId)).status;
    };
    await expect.poll(status, POLL).toBe('completed');
    const [item] = (await payouts.items(lost.batchId).page()).data;
    if (item === undefined) throw new Error('the batch has an item');
    await lose(service, merchant);
    await resume(service, merchant, 'spl');
    await expect
      .poll(async () => (await payouts.item(lost.batchId, item.item_id)).lost_at, POLL)
      .not.toBeNull();
    return item.item_id;
  },
  'refund.updated': async () => {
    const payment = await shop.paid({ network: 'spl' });
    const chain = service.app.chains.sandbox(merchant.merchantId, 'spl');
    await chain.mine(20);
    const { refund_id } = await shop.refund({ payment_id: payment.id, address: TO.spl.succeed });
    await shop.ended(refund_id);
    await lose(service, merchant);
    await resume(service, merchant, 'spl');
    await expect.poll(async () => (await shop.read(refund_id)).lost_at, POLL).not.toBeNull();
    return refund_id;
  },
  'payment_method.updated': async () => {
    const { method } = await newMethod(service, merchant);
    const id = encodeId('paymentMethod', method.payment_method_id);
    await methodCalls(service, merchant).revoke(id);
    return id;
  },
  'webhook_endpoint.test': async () => {
    const { id } = await merchant.sdk.webhookEndpoints.create({ url: 'https://receiver.example/' });
    await merchant.sdk.webhookEndpoints.test(id);
    return id;
  },
};

test('every type of event has its entry, and nothing else has one', () => {
  const types = [...EVENT_TYPES, ...OPT_IN_EVENT_TYPES, TEST_EVENT_TYPE];
  expect(Object.keys(EVENT_CATALOGUE)).toEqual(types);
});

test('every type that is built has a change here, the others have none, and florin trigger causes no others', () => {
  expect(Object.keys(CHANGES).sort()).toEqual([...built].sort());
  expect(built).toEqual(expect.arrayContaining(Object.keys(RECIPES)));
});

for (const type of built) {
  test(`${type}: the change records it with its resource`, async () => {
    const resource = (await CHANGES[type]?.()) ?? '';
    const { data } = await merchant.sdk.events.list({ type, resource }).page();
    expect(data.length).toBeGreaterThan(0);
    for (const event of data) {
      expect(event.type).toBe(type);
      expect(event.data.object).toBeTypeOf('object');
      // A batch of the specification carries no `object`.
      const { object } = event.data.object as { object?: string };
      if (object !== undefined) expect(object).toBe(EVENT_CATALOGUE[type].resource);
    }
  }, 120_000);
}

test('no code records an event that is marked as not built', () => {
  const files = globSync('packages/server/src/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/*.test.ts', '**/planted-*.ts'],
  });
  const code = files.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const named = entries.filter(([type, entry]) => !entry.built && code.includes(`'${type}'`));
  expect(named.map(([type]) => type)).toEqual([]);
});

test('docs/events.md has the table of types', () => {
  const page = readFileSync(path.join(ROOT, 'docs', 'events.md'), 'utf8');
  const rows = entries.map(([type, { resource, change, built: isBuilt }]) => {
    const optIn = (OPT_IN_EVENT_TYPES as readonly string[]).includes(type) ? ' (opt-in)' : '';
    return `| \`${type}\`${optIn} | \`${resource}\` | ${change} | ${isBuilt ? 'yes' : 'not yet'} |`;
  });
  const table = page.split('\n').filter((line) => /^\| `[a-z_]+\.[a-z_]+`/.test(line));
  expect(table).toEqual(rows);
});
