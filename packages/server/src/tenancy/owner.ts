import { Fail } from '../platform/fail.ts';
import { decodeId } from './resource-ids.ts';

/** The merchant and store of a caller, which own the resources it may see. */
export interface Owner {
  merchantId: string;
  storeId: string;
}

/**
 * Returns a merchant's row if it belongs to the caller's store.
 *
 * @param what the resource's name for messages, as in "There is no such invoice."
 * @throws Fail `resource_not_found`; `forbidden` for one of the merchant's other store
 */
export function ofStore<R extends { store_id: string }>(
  row: R | undefined,
  { storeId }: Owner,
  what: string,
): R {
  if (row === undefined) throw new Fail('resource_not_found', `There is no such ${what}.`);
  if (row.store_id !== storeId)
    throw new Fail('forbidden', `This ${what} belongs to another store of the merchant.`);
  return row;
}

/** Checks the filter `store` of a list. @throws Fail `forbidden` for any store but the caller's */
export function checkStoreFilter(store: string | undefined, { storeId }: Owner): void {
  if (store === undefined || decodeId('store', store) === storeId) return;
  throw new Fail('forbidden', 'Only lists of the own store can be read: leave the filter `store` out.');
}
