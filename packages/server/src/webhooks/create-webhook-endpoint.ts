import type { WebhookEndpoint, WebhookEndpointInput } from '@florin/contract/schemas';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { lockStore } from '../stores/keys/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import { normalUrl } from './check-endpoint.ts';
import { countEndpoints, insertEndpoint } from './endpoint-queries.ts';
import { presentEndpoint } from './present.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';

/**
 * Creates an endpoint. It receives the events that are published from now on.
 *
 * @throws Fail `invalid_request` for a URL that is not allowed, or at the store's limit of endpoints
 */
export async function createWebhookEndpoint(
  platform: Platform,
  caller: Caller,
  { url, types = ['*'] }: WebhookEndpointInput,
): Promise<WebhookEndpoint> {
  const endpoint = {
    endpointId: newId(),
    url: normalUrl(url),
    types,
    nowSeconds: platform.clock.nowSeconds() + caller.clockOffset,
  };
  const { endpointsMax } = await readSettings(platform.db, caller, WEBHOOK_SETTINGS);
  const row = await transact(platform.db, async (tx) => {
    // Creates of one store run one after the other, so that their counts hold.
    await lockStore(tx, caller);
    if ((await countEndpoints(tx, caller)) >= endpointsMax) {
      const message = `A store has at most ${endpointsMax} webhook endpoints. Change one that is no longer needed.`;
      throw new Fail('invalid_request', message);
    }
    return await insertEndpoint(tx, caller, endpoint);
  });
  return presentEndpoint(row);
}
