export { type MerchantTime, merchantTime } from './merchant-time.ts';
export { networkNamed } from './named-network.ts';
export { checkStoreFilter, type Owner, ofStore } from './owner.ts';
export { cursorIdOf, decodeId, encodeId, ID_PREFIXES, type IdKind } from './resource-ids.ts';
