export { checkAddress } from './check.ts';
export { addRiskAddress, findSanctioned, listRiskAddresses, removeRiskAddress } from './risk-list.ts';
export { storedAddress, storedTxId } from './search-terms.ts';
