import type { RecordedEventType } from '@florin/contract/schemas';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    event: {
      merchant_id: string;
      event_id: string;
      store_id: string;
      type: RecordedEventType;
      resource: string;
      sequence: bigint;
      /** Its number in the store's stream, in order of commit; null until it is published. */
      number: bigint | null;
      body: string;
      created_at: Int8;
      recorded_at_ms: Int8;
    };
  }
}
