import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeIdToken, encodeIdToken } from '../platform/db/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import { type Suspensions, suspendedFor } from '../stores/index.ts';
import { awaitsClaim } from './present.ts';
import type { RefundRow } from './queries.ts';

// Whoever holds the link decides where the money goes, so its secret lies sealed in the database: a copy of that opens
// no link. It is kept after its use, so that the link then says what became of it.

/** Where the link leads. */
export const CLAIM_PATH = '/refunds/claim';

const SECRET_BYTES = 16;

type Keyed = Pick<RefundRow, 'merchant_id' | 'refund_id'>;

const contextOf = ({ merchant_id, refund_id }: Keyed) => `refund-claim:${merchant_id}:${refund_id}`;

/** The sealed secret of a new link. */
export function newClaimSecret(vault: Vault, refund: Keyed): Buffer {
  return vault.seal(randomBytes(SECRET_BYTES), contextOf(refund));
}

/** What stands in the link's address: merchant, refund and secret in one word. */
export function claimToken(vault: Vault, refund: Keyed & { claim_secret: Buffer }): string {
  const secret = vault.open(refund.claim_secret, contextOf(refund));
  return encodeIdToken([refund.merchant_id, refund.refund_id], secret);
}

export interface ClaimToken {
  merchantId: string;
  refundId: string;
  secret: Buffer;
}

/** Undefined for a text that no link of ours holds. */
export function parseClaimToken(text: string): ClaimToken | undefined {
  const found = decodeIdToken(text, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, refundId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || refundId === undefined) return undefined;
  return { merchantId, refundId, secret: found.secret };
}

/** Whether a link's secret is the refund's, in the same time for every wrong one. */
export function opens(vault: Vault, refund: RefundRow, { secret }: Pick<ClaimToken, 'secret'>): boolean {
  const { claim_secret: sealed } = refund;
  return sealed !== null && timingSafeEqual(vault.open(sealed, contextOf(refund)), secret);
}

/**
 * For how many more seconds a link can be used; 0: it is used or over. Its days are those on which its merchant is not
 * suspended: the payer can name no address on others.
 *
 * @param now of the merchant's clock
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
