import type { DeliveryAttempt, RecordedEventType, WebhookEventChoice } from '@florin/contract/schemas';
import type { Generated } from 'kysely';
import type { Stamp } from './request-headers.ts';

type Int8 = bigint | number;

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'exhausted' | 'paused';
export type EndpointStatus = 'enabled' | 'disabled';

/** An attempt as it is kept. */
export interface StoredAttempt extends Omit<DeliveryAttempt, 'request_headers'> {
  /** Of the signature the first digits, too few to send the request again. Older attempts have none. */
  sent?: Stamp;
}

/** Tables that are partitioned by day; old partitions are dropped whole. */
export const TABLES_BY_DAY = ['event', 'delivery'] as const;

declare module '../platform/db/db.ts' {
  interface Tables {
    webhook_endpoint: {
      merchant_id: string;
      endpoint_id: string;
      store_id: string;
      url: string;
      types: WebhookEventChoice[];
      status: Generated<EndpointStatus>;
      disabled_reason: Generated<'by_request' | 'failing' | null>;
      /** Failed attempts since the last acknowledgement; test events are not counted. */
      failures: Generated<number>;
      /** Real time at which the first of them began. */
      failing_since_ms: Generated<Int8 | null>;
      created_at: Int8;
    };
    delivery: {
      merchant_id: string;
      event_id: string;
      endpoint_id: string;
      delivery_id: string;
      store_id: string;
      event_type: RecordedEventType;
      /** The event's number in its store; 0 for a test. */
      number: Int8;
      status: DeliveryStatus;
      /** Attempts made in the present series. */
      series_attempts: Generated<number>;
      /** The merchant's clock. */
      due_at: Int8;
      attempts: Generated<StoredAttempt[]>;
      event_created_at: Int8;
      created_at: Int8;
    };
  }
}
