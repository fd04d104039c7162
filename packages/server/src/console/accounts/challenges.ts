import { randomBytes } from 'node:crypto';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { digestOf } from './secrets.ts';
import type { ConsoleDeps } from './users.ts';

const VALID_MS = 300_000;
/** A node's clock may be ahead of another's by so much. */
const AHEAD_MS = 60_000;
const NONCE_BYTES = 16;
const TIME_BYTES = 8;
const PURPOSE = 'console passkey';

/** What an answer is for, and whose: one that was asked for otherwise counts for nothing. */
export interface ChallengeUse {
  kind: 'register' | 'sign_in' | 'prove';
  /** Of the session; empty before a sign-in. */
  sessionId: string;
}

const messageOf = (head: Buffer, { kind, sessionId }: ChallengeUse) =>
  Buffer.concat([head, Buffer.from(`${kind} ${sessionId}`)]);

/** A challenge that names its end and carries a mark of ours, so that nothing is stored for whoever only asks. */
export function makeChallenge({ clock, vault }: ConsoleDeps, use: ChallengeUse): Buffer {
  const head = Buffer.alloc(NONCE_BYTES + TIME_BYTES);
  randomBytes(NONCE_BYTES).copy(head);
  head.writeBigUInt64BE(BigInt(clock.nowMs() + VALID_MS), NONCE_BYTES);
  return Buffer.concat([head, vault.mark(messageOf(head, use), PURPOSE)]);
}

const endOf = (challenge: Buffer) => Number(challenge.readBigUInt64BE(NONCE_BYTES));

/** Whether a challenge, as base64url, is one of ours for this use that has not ended. */
export function isChallenge({ clock, vault }: ConsoleDeps, text: string, use: ChallengeUse): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TIME_BYTES || bytes.toString('base64url') !== text) return false;
  const head = bytes.subarray(0, NONCE_BYTES + TIME_BYTES);
  if (!vault.isMarked(messageOf(head, use), PURPOSE, bytes.subarray(head.length))) return false;
  const leftMs = endOf(bytes) - clock.nowMs();
  return leftMs > 0 && leftMs <= VALID_MS + AHEAD_MS;
}

/** Spends a challenge: of two answers at once, on whichever nodes, one counts. @throws Fail `authentication_required` */
export async function spendChallenge(tx: Tx, text: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('console_challenge')
    .values({ digest: digestOf(text), expires_at_ms: endOf(Buffer.from(text, 'base64url')) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n)
    throw new Fail('authentication_required', {
      message: 'This answer was used before. Try again.',
      param: 'credential',
    });
}
