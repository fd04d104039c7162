import { sql } from 'kysely';
import { claimKey } from '../platform/db/guards/index.ts';
import { NIL_ID, newId } from '../platform/db/ids/index.ts';
import { type Tx, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import { getMerchant, type Merchant } from './queries.ts';

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

interface MerchantInput {
  name: string;
  mode: MerchantMode;
}

const newMerchant = ({ clock }: Pick<Platform, 'clock'>, { name, mode }: MerchantInput): Merchant => ({
  merchantId: newId(),
  name: checkName(name, 'name'),
  mode,
  status: 'active',
  clockOffset: 0,
  suspendedAt: null,
  suspendedSeconds: 0,
  resumedAt: null,
  createdAt: clock.nowSeconds(),
});

const insertMerchant = async (tx: Tx, { merchantId, name, mode, createdAt }: Merchant) =>
  await tx
    .insertInto('merchant')
    .values({ merchant_id: merchantId, name, mode, created_at: createdAt })
    .execute();

/**
 * Creates a merchant. Its mode never changes.
 *
 * @param form what asked for it: sent twice, it finds the merchant that it made
 * @throws Fail `conflict` for a form that was sent with something else
 */
export async function createMerchant(
  platform: Pick<Platform, 'db' | 'clock'>,
  input: MerchantInput,
  form?: { key: string; digest: Buffer },
): Promise<Merchant & { isNew: boolean }> {
  const merchant = newMerchant(platform, input);
  return await transact(platform.db, async (tx) => {
    const { first, resourceId } =
      form === undefined
        ? { first: true, resourceId: merchant.merchantId }
        : await claimKey(tx, {
            ...form,
            merchantId: NIL_ID,
            storeId: NIL_ID,
            operation: 'createMerchant',
            resourceId: merchant.merchantId,
            nowSeconds: merchant.createdAt,
          });
    if (!first) return { ...(await getMerchant(tx, resourceId)), isNew: false };
    await insertMerchant(tx, merchant);
    return { ...merchant, isNew: true };
  });
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
