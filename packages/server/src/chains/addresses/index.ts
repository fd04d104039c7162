export { checkAddress } from './check.ts';
export {
  addRiskAddress,
  findSanctioned,
  listRiskAddresses,
  removeRiskAddress,
  riskAddressOf,
} from './risk-list.ts';
export { storedAddress, storedTxId } from './search-terms.ts';
