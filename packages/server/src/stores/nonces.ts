import { NONCE_KEEP_SECONDS } from '@florin/contract/signing';
import { CLOCKS_AGREE_WITHIN_MS } from '../platform/db/index.ts';
import type { Platform } from '../platform/platform.ts';
import { deleteNoncesBefore, findOldestNonceMs } from './queries.ts';

/** Of one statement: after a night without workers there is more than one may hold its rows for. */
const SLICE_MS = 60_000;

/**
 * Forgets nonces whose timestamp no clock would accept any more. Where the database's clock and this machine's disagree,
 * one of them was set wrongly: nothing is forgotten, as what was just spent may be fresh again when it is put right.
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
