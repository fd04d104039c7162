import { sql } from 'kysely';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import type { Merchant } from './queries.ts';

const NAME_MAX = 200;

/** Checks and trims a name. @throws Fail */
export function checkName(name: string, param: string): string {
  const trimmed = name.trim();
  const printable = !/\p{Cc}/u.test(trimmed);
  if (trimmed.length > 0 && trimmed.length <= NAME_MAX && printable) return trimmed;
  throw new Fail('invalid_request', {
    message: `${param} must be 1 to ${NAME_MAX} printable characters.`,
    param,
  });
}

/** Creates a merchant. Its mode never changes. */
export async function createMerchant(
  platform: Platform,
  input: { name: string; mode: MerchantMode },
): Promise<Merchant> {
  const merchant: Merchant = {
    merchantId: newId(),
    name: checkName(input.name, 'name'),
    mode: input.mode,
    status: 'active',
    clockOffset: 0,
    suspendedAt: null,
    suspendedSeconds: 0,
    resumedAt: null,
    createdAt: platform.clock.nowSeconds(),
  };
  await platform.db
    .insertInto('merchant')
    .values({
      merchant_id: merchant.merchantId,
      name: merchant.name,
      mode: merchant.mode,
      created_at: merchant.createdAt,
    })
    .execute();
  return merchant;
}

/**
 * Suspends or resumes a merchant. While it is suspended its requests are 403 and nothing new begins; what has begun
 * continues. The length of the suspension is counted by the merchant's clock, and deadlines move by it.
 */
export async function setMerchantStatus(
  platform: Pick<Platform, 'db' | 'clock'>,
  merchantId: string,
  status: 'active' | 'suspended',
): Promise<void> {
  const now = sql<bigint>`${platform.clock.nowSeconds()}::bigint + clock_offset`;
  const change =
    status === 'suspended'
      ? { suspended_at: now }
      : {
          suspended_at: null,
          resumed_at: now,
          suspended_seconds: sql<bigint>`suspended_seconds + greatest(0, ${now} - suspended_at)`,
        };
  await platform.db
    .updateTable('merchant')
    .set({ status, ...change })
    .where('merchant_id', '=', merchantId)
    .where('status', '<>', status)
    .execute();
}

/** Moves a sandbox merchant's clock forward. The caller moves its jobs in the same transaction. */
export async function moveClock(tx: Tx, merchantId: string, seconds: number): Promise<void> {
  await tx
    .updateTable('merchant')
    .set((e) => ({ clock_offset: e('clock_offset', '+', BigInt(seconds)) }))
    .where('merchant_id', '=', merchantId)
    .where('mode', '=', 'sandbox')
    .execute();
}
