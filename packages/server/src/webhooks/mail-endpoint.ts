import { queueMail } from '../mail/index.ts';
import type { Clock, Tx } from '../platform/db/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import type { EndpointRow } from './endpoint-queries.ts';
import type { Health } from './states.ts';

/** Mails the merchant's people about an endpoint, once for each stretch of failures. */
export async function mailEndpoint(
  tx: Tx,
  endpoint: EndpointRow,
  { kind, health }: { kind: 'endpoint_failing' | 'endpoint_disabled'; health: Health },
  clock: Clock,
): Promise<void> {
  const { merchant_id: merchantId, store_id: storeId, url } = endpoint;
  const about = encodeId('webhookEndpoint', endpoint.endpoint_id);
  const time = merchantTime({ clock }, await getMerchant(tx, merchantId));
  await queueMail(tx, { merchantId, storeId }, time, {
    kind,
    about,
    cause: `${about} ${health.failingSinceMs}`,
    values: { url, count: String(health.failures) },
    rows: {},
    link: null,
  });
}
