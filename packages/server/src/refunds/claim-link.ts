import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeIdToken, encodeIdToken } from '../platform/db/ids/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { type Suspensions, suspendedFor } from '../stores/index.ts';
import { awaitsClaim } from './present.ts';
import type { RefundRow } from './queries.ts';

// The holder of the link decides where the money goes, so its secret is stored encrypted: a copy of the database opens no
// link. The secret is kept after use, so that the link then shows the refund's outcome.

/** The path of claim pages. */
export const CLAIM_PATH = '/refunds/claim';

const SECRET_BYTES = 16;

type RefundKey = Pick<RefundRow, 'merchant_id' | 'refund_id'>;

const contextOf = ({ merchant_id, refund_id }: RefundKey) => `refund-claim:${merchant_id}:${refund_id}`;

/** The sealed secret of a new link. */
export function newClaimSecret(vault: Vault, refund: RefundKey): Buffer {
  return vault.seal(randomBytes(SECRET_BYTES), contextOf(refund));
}

/** The token in the link's URL: merchant, refund and secret. */
export function claimToken(vault: Vault, refund: RefundKey & { claim_secret: Buffer }): string {
  const secret = vault.open(refund.claim_secret, contextOf(refund));
  return encodeIdToken([refund.merchant_id, refund.refund_id], secret);
}

export interface ClaimToken {
  merchantId: string;
  refundId: string;
  secret: Buffer;
}

/** @returns undefined if the text is no token */
export function parseClaimToken(text: string): ClaimToken | undefined {
  const found = decodeIdToken(text, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, refundId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || refundId === undefined) return undefined;
  return { merchantId, refundId, secret: found.secret };
}

/** Compares a link's secret with the refund's in constant time. */
export function isClaimSecret(
  vault: Vault,
  refund: RefundRow,
  { secret }: Pick<ClaimToken, 'secret'>,
): boolean {
  const { claim_secret: sealed } = refund;
  return sealed !== null && timingSafeEqual(vault.open(sealed, contextOf(refund)), secret);
}

/**
 * How many more seconds a link can be used; 0: it was used or has expired. Time during which the merchant is suspended does
 * not count, since the payer cannot use the link then.
 *
 * @param now Unix seconds of the merchant's clock
 */
export function claimSecondsLeft(
  refund: Pick<RefundRow, 'status' | 'address' | 'claim_ends_at' | 'suspended_seconds'>,
  merchant: Suspensions,
  now: number,
): number {
  if (!awaitsClaim(refund)) return 0;
  const suspended = suspendedFor(merchant, now) - Number(refund.suspended_seconds);
  return Math.max(0, Number(refund.claim_ends_at ?? 0) + suspended - now);
}
