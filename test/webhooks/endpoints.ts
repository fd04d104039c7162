import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import type { TestMerchant, TestService } from '../service.ts';

export interface TestEndpoint {
  endpointId: string;
  url: string;
}

let counter = 0;

/** Inserts an endpoint for events of batches. */
export async function addEndpoint(
  service: TestService,
  { merchantId, storeId }: TestMerchant,
  types: ('*' | 'payout_batch.updated')[] = ['payout_batch.updated'],
): Promise<TestEndpoint> {
  counter += 1;
  const endpoint = { endpointId: newId(), url: `https://receiver${counter}.example/hook` };
  await service.app.db
    .insertInto('webhook_endpoint')
    .values({
      merchant_id: merchantId,
      endpoint_id: endpoint.endpointId,
      store_id: storeId,
      url: endpoint.url,
      types,
      created_at: 0,
    })
    .execute();
  return endpoint;
}

/** Creates a draft, which records one event. @returns the batch's id */
export async function makeEvent(merchant: TestMerchant): Promise<string> {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20' as const, address: erc20.succeed, amount: '1.00' }];
  return (await merchant.sdk.payouts.create({ currency: 'USDT', items })).batch_id;
}

export async function deliveriesOf(service: TestService, merchantId: string) {
  const rows = await service.app.db
    .selectFrom('delivery')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .orderBy('number')
    .execute();
  return rows.map((row) => ({ ...row, event: encodeId('event', row.event_id) }));
}

/** Waits until each event of a merchant has its number, and so its deliveries. */
export async function untilPublished(service: TestService, merchantId: string): Promise<void> {
  await until('everything is published', async () => {
    const fresh = await service.app.db
      .selectFrom('event')
      .select('event_id')
      .where('merchant_id', '=', merchantId)
      .where('number', 'is', null)
      .executeTakeFirst();
    return fresh === undefined;
  });
}

/** Waits until a condition holds, by default for a minute at most. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 10 } = {},
): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`this did not come true in ${withinMs / 1000} s: ${what}`);
    await sleep(everyMs);
  }
}
