import { NONCE_KEEP_SECONDS } from '@florin/contract/signing';
import type { Platform } from '../platform/platform.ts';
import { deleteNoncesBefore, findOldestNonceMs } from './queries.ts';

/** Of one statement: after a night without workers there is more than one may hold its rows for. */
const SLICE_MS = 60_000;

/** Forgets nonces whose timestamp no clock would accept any more. */
export async function deleteOldNonces({ db, clock }: Pick<Platform, 'db' | 'clock'>): Promise<void> {
  const cutoffMs = clock.nowMs() - NONCE_KEEP_SECONDS * 1000;
  for (;;) {
    const oldestMs = await findOldestNonceMs(db);
    if (oldestMs === undefined || oldestMs >= cutoffMs) return;
    await deleteNoncesBefore(db, Math.min(cutoffMs, oldestMs + SLICE_MS));
  }
}
