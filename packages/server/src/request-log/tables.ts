import type { RefusalExplanation } from './explain/index.ts';

/** Divided by day, by the time in `request_id`. */
export const REQUEST_LOG_TABLE = 'request_log';

/** As in `stores/keys/authenticate.ts`, but `key`: of a key that does not exist nothing is recorded. */
export const REFUSALS = ['headers', 'signature', 'timestamp', 'ended', 'nonce'] as const;
export type Refusal = (typeof REFUSALS)[number];

export interface RequestLogRow {
  merchant_id: string;
  request_id: string;
  callers_id: string | null;
  store_id: string;
  key_id: string;
  is_verified: boolean;
  method: string;
  route: string;
  path: string;
  query: string;
  status: number;
  duration_us: number;
  error_code: string | null;
  refusal: Refusal | null;
  remote_address: string;
  request_headers: string;
  request_body: string | null;
  request_bytes: number;
  answer_body: string | null;
  answer_bytes: number;
  explanation: RefusalExplanation | null;
}

declare module '../platform/db/db.ts' {
  interface Tables {
    request_log: RequestLogRow;
  }
}
