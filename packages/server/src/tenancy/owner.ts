import { Fail } from '../platform/fail.ts';

/** Whose resource may be seen: most belong to one store of a merchant. */
export interface Owner {
  merchantId: string;
  storeId: string;
}

/**
 * What was found of a merchant, if it is the caller's store's.
 *
 * @param what as in "There is no such invoice."
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
