import { recordEvent } from '../events/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { EndpointRow } from './endpoint-queries.ts';
import { presentEndpoint } from './present.ts';

/** Records `webhook_endpoint.disabled`, which reaches the store's stream and its other endpoints with that type. */
export async function emitEndpointDisabled(
  tx: Tx,
  { before, after }: { before: EndpointRow; after: EndpointRow },
  nowMs: number,
): Promise<void> {
  const { mode, clockOffset } = await getMerchant(tx, after.merchant_id);
  await recordEvent(tx, {
    merchantId: after.merchant_id,
    storeId: after.store_id,
    livemode: mode === 'live',
    type: 'webhook_endpoint.disabled',
    resource: encodeId('webhookEndpoint', after.endpoint_id),
    before: presentEndpoint(before),
    after: presentEndpoint(after),
    nowSeconds: Math.floor(nowMs / 1000) + clockOffset,
    nowMs,
  });
}
