/** The service may add rows to these and change none. */
export const APPEND_ONLY_AUDIT_TABLES = ['audit_entry'] as const;

export type ActorKind = 'user' | 'key' | 'cli';
/** `attempted` is written before the change; `done` and `failed` after it. */
export type Phase = 'attempted' | 'done' | 'failed';

export interface AuditRow {
  merchant_id: string;
  number: bigint;
  at_ms: bigint;
  actor_kind: ActorKind;
  actor: string;
  origin: string;
  action: string;
  phase: Phase;
  attempt: bigint | null;
  request_id: string | null;
  /** JSON. */
  details: string;
  previous_hash: Buffer;
  hash: Buffer;
  seal: Buffer;
}

declare module '../platform/db/db.ts' {
  interface Tables {
    audit_entry: AuditRow;
    audit_head: { merchant_id: string; number: bigint; hash: Buffer };
  }
}
