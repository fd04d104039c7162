import { NONCE_KEEP_SECONDS } from '@florin/contract/signing';
import { CLOCKS_AGREE_WITHIN_MS } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { deleteNoncesBefore, findOldestNonceMs } from '../queries.ts';

/** The span of one statement: after a night without workers, one statement for all would hold its locks for too long. */
const SLICE_MS = 60_000;

/**
 * Deletes nonces whose timestamp no node accepts any more. Where the database's clock and this machine's disagree, one of
 * them is wrong and nothing is deleted, as a nonce could become valid again once the clock is corrected.
 */
export async function deleteOldNonces({
  db,
  clock,
  log,
}: Pick<Platform, 'db' | 'clock' | 'log'>): Promise<void> {
  await clock.measure(db);
  if (Math.abs(clock.offsetMs) > CLOCKS_AGREE_WITHIN_MS) {
    log.warn(
      { offset_ms: clock.offsetMs },
      "nonces are kept: this machine's clock and the database's disagree",
    );
    return;
  }
  const cutoffMs = clock.nowMs() - NONCE_KEEP_SECONDS * 1000;
  for (;;) {
    const oldestMs = await findOldestNonceMs(db);
    if (oldestMs === undefined || oldestMs >= cutoffMs) return;
    await deleteNoncesBefore(db, Math.min(cutoffMs, oldestMs + SLICE_MS));
  }
}
