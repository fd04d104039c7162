import type { MailStatus } from '@florin/contract/schemas';
import { Moves } from '../platform/db/guards/index.ts';

// A mail of real money: pending → sending → sent; back to pending after a refusal that may pass.
// Invariant: `sending` is committed before the last byte goes out, so a mail server that may have taken a mail never gets it
// again: a process or connection that ends meanwhile leaves it `unconfirmed`.

export const MAIL_MOVES = new Moves<MailStatus>('a mail', {
  caught: [],
  pending: ['sending', 'failed', 'off'],
  sending: ['sent', 'pending', 'failed', 'unconfirmed'],
  sent: [],
  failed: [],
  unconfirmed: [],
  off: [],
});

/** How an attempt to hand a mail to the mail server ended. */
export type SendResult =
  | { kind: 'accepted' }
  /** The server's answer, with its code of three digits. */
  | { kind: 'refused'; code: number; text: string }
  /** No answer. `isOut`: everything had been sent, so the server may have taken it. */
  | { kind: 'unanswered'; isOut: boolean; text: string };

/** A mail that no attempt could hand over is given up after a day. */
const GIVE_UP_SECONDS = 86_400;
const RETRY_SECONDS = [60, 300, 900, 3_600] as const;
const RETRY_SECONDS_MAX = 4 * 3_600;

/** The state after an attempt. `againInSeconds` where it is `pending`. */
export type NextMail =
  | { status: 'sent' | 'failed' | 'unconfirmed'; error: string | null }
  | { status: 'pending'; error: string; againInSeconds: number };

/**
 * Decides what follows an attempt: codes from 500 are final, as the server says; everything else that took no mail is tried
 * again for a day, ever more rarely.
 *
 * @param attempts with this one
 * @param ageSeconds since the mail was made
 */
export function afterAttempt(result: SendResult, attempts: number, ageSeconds: number): NextMail {
  if (result.kind === 'accepted') return { status: 'sent', error: null };
  if (result.kind === 'unanswered' && result.isOut) return { status: 'unconfirmed', error: result.text };
  const error = result.kind === 'refused' ? `${result.code} ${result.text}`.trim() : result.text;
  const isFinal = result.kind === 'refused' && result.code >= 500;
  if (isFinal || ageSeconds >= GIVE_UP_SECONDS) return { status: 'failed', error };
  return { status: 'pending', error, againInSeconds: RETRY_SECONDS[attempts - 1] ?? RETRY_SECONDS_MAX };
}
