import type { Db } from '../../platform/db/index.ts';
import { listed, prepared } from '../../platform/db/statements/index.ts';

/** A request that a key has signed. */
export interface KeyUse {
  merchantId: string;
  keyId: string;
  /** Real time, Unix milliseconds. */
  atMs: number;
}

/** A key's row is written at most so often, by however many processes. */
export const USES_KNOWN_TO_MS = 60_000;

/** Moves the last use of keys forward, about to the minute. */
export async function recordKeyUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  if (uses.length === 0) return;
  await prepared`
    update api_key k set last_used_at_ms = w.at_ms
    from ${listed('w', uses, {
      merchant_id: ['uuid', (use) => use.merchantId],
      key_id: ['uuid', (use) => use.keyId],
      at_ms: ['bigint', (use) => use.atMs],
    })}
    where k.merchant_id = w.merchant_id and k.key_id = w.key_id
      and (k.last_used_at_ms is null or k.last_used_at_ms <= w.at_ms - ${USES_KNOWN_TO_MS}::bigint)`.execute(
    db,
  );
}
