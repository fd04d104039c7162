import { type Delivery, TEST_EVENT_TYPE } from '@florin/contract/schemas';
import { recordEvent } from '../events/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { invariant } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { encodeId } from '../tenancy/index.ts';
import { checkEnabled } from './check-endpoint.ts';
import { getDelivery } from './delivery-queries.ts';
import { getEndpoint } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { presentDelivery, presentEndpoint } from './present.ts';
import { insertDeliveries } from './queries.ts';

/**
 * Records a test event for this endpoint alone and sends it before all others. It does not count for the endpoint's health.
 *
 * @throws Fail `resource_not_found`, `forbidden`; `invalid_request` while the endpoint is disabled
 */
export async function testWebhookEndpoint(
  platform: Platform,
  caller: Caller,
  text: string,
): Promise<Delivery> {
  const nowMs = platform.clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1000) + caller.clockOffset;
  const { merchantId, storeId } = caller;
  return await transact(platform.db, async (tx) => {
    const endpoint = await getEndpoint(tx, caller, text, 'share');
    checkEnabled(endpoint);
    const endpointId = endpoint.endpoint_id;
    const eventId = await recordEvent(tx, {
      merchantId,
      storeId,
      livemode: caller.mode === 'live',
      type: TEST_EVENT_TYPE,
      resource: encodeId('webhookEndpoint', endpointId),
      before: null,
      after: presentEndpoint(endpoint),
      nowSeconds,
      nowMs,
    });
    invariant(eventId, 'an event with no state before it is always recorded');
    const deliveryId = newId();
    const times = { dueAt: nowSeconds, eventCreatedAt: nowSeconds };
    const event = { eventId, eventType: TEST_EVENT_TYPE, number: 0n } as const;
    const delivery = { deliveryId, endpointId, status: 'pending', ...event, ...times } as const;
    await insertDeliveries(tx, caller, [delivery]);
    await enqueue(tx, [deliverJob({ merchantId, storeId, endpointId }, nowMs)]);
    return presentDelivery(await getDelivery(tx, caller, encodeId('delivery', deliveryId)));
  });
}
