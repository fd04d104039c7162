import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import type { DeliveryStatus } from './tables.ts';

export interface WebhookHealth {
  /** Undelivered deliveries by status. */
  undelivered: ReadonlyMap<DeliveryStatus, number>;
  endpoints: readonly { status: 'enabled' | 'disabled'; failing: boolean; count: number }[];
}

/** Counts over all merchants; the index holds undelivered ones only. For metrics, not for requests. */
export async function webhookHealth(db: Db): Promise<WebhookHealth> {
  const deliveries = await sql<{ status: DeliveryStatus; count: bigint }>`
    select status, count(*) as count from delivery where status <> 'delivered' group by status`.execute(db);
  const endpoints = await sql<{ status: 'enabled' | 'disabled'; failing: boolean; count: bigint }>`
    select status, failures > 0 as failing, count(*) as count from webhook_endpoint group by 1, 2`.execute(
    db,
  );
  return {
    undelivered: new Map(deliveries.rows.map(({ status, count }) => [status, Number(count)])),
    endpoints: endpoints.rows.map((row) => ({ ...row, count: Number(row.count) })),
  };
}
