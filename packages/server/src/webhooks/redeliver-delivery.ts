import type { Delivery } from '@florin/contract/schemas';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { encodeId } from '../tenancy/index.ts';
import { checkEnabled } from './check-endpoint.ts';
import { getDelivery, lockDelivery, moveDeliveries } from './delivery-queries.ts';
import { getEndpoint } from './endpoint-queries.ts';
import { deliverJob } from './jobs.ts';
import { presentDelivery } from './present.ts';

/**
 * Sends a delivery again, at once and in a new series of attempts; earlier attempts stay in its list.
 *
 * @throws Fail `resource_not_found`, `forbidden`; `invalid_request` while it is pending or paused, or its endpoint is
 * disabled
 */
export async function redeliverDelivery(platform: Platform, caller: Caller, text: string): Promise<Delivery> {
  const nowMs = platform.clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1000) + caller.clockOffset;
  const { merchantId, storeId } = caller;
  return await transact(platform.db, async (tx) => {
    const found = await getDelivery(tx, caller, text);
    // Lock order: endpoint, then delivery.
    const endpoint = await getEndpoint(tx, caller, encodeId('webhookEndpoint', found.endpoint_id), 'share');
    const delivery = await lockDelivery(tx, found);
    if (delivery.status === 'pending' || delivery.status === 'paused') {
      const message = `The delivery is ${delivery.status}: it is sent by itself once it is due and its endpoint enabled.`;
      throw new Fail('invalid_request', message);
    }
    checkEnabled(endpoint);
    await moveDeliveries(tx, endpoint, [delivery.event_id], {
      status: 'pending',
      dueAt: nowSeconds,
      newSeries: true,
    });
    await enqueue(tx, [deliverJob({ merchantId, storeId, endpointId: endpoint.endpoint_id }, nowMs)]);
    return presentDelivery(await lockDelivery(tx, delivery));
  });
}
