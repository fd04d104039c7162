import type { WebhookEndpoint, WebhookEndpointChange } from '@florin/contract/schemas';
import type { Updateable } from 'kysely';
import type { Tables } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { alignBatch } from './align-deliveries.ts';
import { normalUrl } from './check-endpoint.ts';
import { emitEndpointDisabled } from './emit-endpoint-disabled.ts';
import { type EndpointRow, getEndpoint, updateEndpoint } from './endpoint-queries.ts';
import { alignJob, deliverJob } from './jobs.ts';
import { presentEndpoint } from './present.ts';

/**
 * Changes the given fields. Pending deliveries go to a new URL, too. Disabling pauses them; enabling makes each due at once
 * with the retries it had left, and resets the failures.
 *
 * @throws Fail `resource_not_found`, `forbidden`; `invalid_request` for a URL that is not allowed
 */
export async function updateWebhookEndpoint(
  platform: Platform,
  caller: Caller,
  { endpoint: text, change }: { endpoint: string; change: WebhookEndpointChange },
): Promise<WebhookEndpoint> {
  const nowMs = platform.clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1000) + caller.clockOffset;
  const row = await transact(platform.db, async (tx) => {
    // Publishers lock endpoints `for share`: deliveries they made before are seen here, later ones see this change.
    const before = await getEndpoint(tx, caller, text, 'update');
    const moved = {
      ...(change.url === undefined ? {} : { url: normalUrl(change.url) }),
      ...(change.types === undefined ? {} : { types: change.types }),
      ...statusColumns(before, change.status),
    };
    if (Object.keys(moved).length === 0) return before;
    const after = await updateEndpoint(tx, before, moved);
    if (after.status !== before.status) {
      if (after.status === 'disabled') await emitEndpointDisabled(tx, { before, after }, nowMs);
      const isMore = await alignBatch(tx, after, nowSeconds);
      if (isMore) await enqueue(tx, [alignJob(refOf(after), nowMs)]);
    }
    // A run in progress reads the endpoint again.
    if (after.status !== before.status || after.url !== before.url)
      await enqueue(tx, [deliverJob(refOf(after), nowMs)]);
    return after;
  });
  return presentEndpoint(row);
}

/** An endpoint that already has the requested status keeps the reason of its disabling. */
function statusColumns(
  before: EndpointRow,
  status: WebhookEndpointChange['status'],
): Updateable<Tables['webhook_endpoint']> {
  if (status === undefined || status === before.status) return {};
  if (status === 'disabled') return { status, disabled_reason: 'by_request' };
  return { status, disabled_reason: null, failures: 0, failing_since_ms: null };
}

const refOf = (row: EndpointRow) => ({
  merchantId: row.merchant_id,
  storeId: row.store_id,
  endpointId: row.endpoint_id,
});
