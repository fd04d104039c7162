import { sql } from 'kysely';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { encodeId } from '../tenancy/index.ts';
import { checkName } from './create-merchant.ts';
import { getMerchant, getStore } from './queries.ts';

/** More would drown what others ask for. */
const WAITING_MAX = 20;

export interface StoreInput {
  merchantId: string;
  name: string;
  channelType: 'api' | 'hosted';
}

/**
 * Creates a store, which waits for review and is not enabled: no key can be made for it yet.
 *
 * @returns its id
 * @throws Fail `conflict` while another one of that name waits for review, as a form was sent twice, or while 20 wait
 */
export async function createStore(
  platform: Pick<Platform, 'db' | 'clock'>,
  input: StoreInput,
): Promise<string> {
  const merchant = await getMerchant(platform.db, input.merchantId);
  const { merchantId } = merchant;
  const name = checkName(input.name, 'name');
  const storeId = newId();
  await transact(platform.db, async (tx) => {
    await sql`select from merchant where merchant_id = ${merchantId} for no key update`.execute(tx);
    const waiting = await tx
      .selectFrom('store')
      .select(['store_id', 'name'])
      .where('merchant_id', '=', merchantId)
      .where('review_status', '=', 'pending')
      .execute();
    const same = waiting.find((store) => store.name === name);
    if (same !== undefined)
      throw new Fail('conflict', `${encodeId('store', same.store_id)} has this name and waits for review.`);
    if (waiting.length >= WAITING_MAX)
      throw new Fail('conflict', `${waiting.length} stores of this merchant wait for review already.`);
    const created_at = platform.clock.nowSeconds() + merchant.clockOffset;
    await tx
      .insertInto('store')
      .values({
        merchant_id: merchantId,
        store_id: storeId,
        name,
        channel_type: input.channelType,
        created_at,
      })
      .execute();
  });
  return storeId;
}

export interface StoreChange {
  reviewStatus?: 'approved' | 'rejected';
  enabled?: boolean;
  /** What somebody saw who decides by it. */
  seen?: { reviewStatus: 'pending' | 'approved' | 'rejected'; enabled: boolean };
}

/**
 * Changes a store. Every node applies it at once, as each request reads its store's row.
 *
 * @throws Fail `conflict` where the store is no longer as it was seen
 */
export async function changeStore(
  platform: Pick<Platform, 'db'>,
  store: { merchantId: string; storeId: string },
  change: StoreChange,
): Promise<void> {
  await getStore(platform.db, store.merchantId, store.storeId);
  const { reviewStatus, enabled, seen } = change;
  const update = platform.db
    .updateTable('store')
    .set({
      ...(reviewStatus === undefined ? {} : { review_status: reviewStatus }),
      ...(enabled === undefined ? {} : { enabled }),
    })
    .where('merchant_id', '=', store.merchantId)
    .where('store_id', '=', store.storeId);
  const { numUpdatedRows } = await (seen === undefined
    ? update
    : update.where('review_status', '=', seen.reviewStatus).where('enabled', '=', seen.enabled)
  ).executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  const { review_status, enabled: isEnabled } = await getStore(platform.db, store.merchantId, store.storeId);
  throw new Fail(
    'conflict',
    `Somebody changed this store meanwhile: it is ${review_status} and ${isEnabled ? 'enabled' : 'disabled'} now.`,
  );
}

/** Of an operator's list: which stores, and how many behind which one. */
export interface StorePage {
  status?: 'pending' | 'enabled' | 'disabled' | 'rejected' | undefined;
  limit: number;
  /** Id of the last store of the page before. */
  after?: string | undefined;
}

/** The stores of a merchant, a page of those of all, or all, oldest first. */
export async function listStores({ db }: Pick<Platform, 'db'>, of: string | StorePage | undefined) {
  const stores = db.selectFrom('store').selectAll().orderBy('created_at').orderBy('store_id');
  if (of === undefined) return await stores.execute();
  if (typeof of === 'string') return await stores.where('merchant_id', '=', of).execute();
  const { status, limit, after } = of;
  const isReviewed = status === 'enabled' || status === 'disabled';
  return await stores
    .$if(status !== undefined, (query) =>
      query.where('review_status', '=', isReviewed ? 'approved' : (status as 'pending' | 'rejected')),
    )
    .$if(isReviewed, (query) => query.where('enabled', '=', status === 'enabled'))
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at, store_id) > (select created_at, store_id from store where store_id = ${after ?? ''})`,
      ),
    )
    .limit(limit)
    .execute();
}
