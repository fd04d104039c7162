import { NONCE_KEEP_SECONDS } from '@florin/contract/signing';
import type { Platform } from '../platform/platform.ts';
import { deleteNoncesBefore } from './queries.ts';

/** Forgets nonces whose timestamp no clock would accept any more. */
export async function deleteOldNonces(platform: Platform): Promise<void> {
  await deleteNoncesBefore(platform.db, platform.clock.nowMs() - NONCE_KEEP_SECONDS * 1000);
}
