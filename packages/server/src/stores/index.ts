export { createMerchant, moveClock, setMerchantStatus } from './create-merchant.ts';
export { changeStore, createStore, listStores, type StoreChange } from './manage-stores.ts';
export {
  findMerchant,
  getMerchant,
  getStore,
  listMerchants,
  type Merchant,
  merchantOf,
  type Suspensions,
  suspendedFor,
} from './queries.ts';
