import type { EventType } from '@florin/contract/schemas';

type Int8 = bigint | number;

declare module '../platform/db.ts' {
  interface Tables {
    event: {
      merchant_id: string;
      event_id: string;
      store_id: string;
      type: EventType;
      resource: string;
      sequence: bigint;
      body: string;
      created_at: Int8;
      recorded_at_ms: Int8;
    };
  }
}
