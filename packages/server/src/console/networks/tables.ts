import type { Network } from '@florin/contract/money';

export interface ResumeRequestRow {
  /** Whose chain: the nil id. */
  merchant_id: string;
  network: Network;
  request_id: string;
  requested_by: string;
  reason: string;
  /** Digest of the stops that were looked at. */
  seen: string;
  created_at_ms: bigint | number;
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    network_resume_request: ResumeRequestRow;
  }
}
