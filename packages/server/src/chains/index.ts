export { Accounts, openAccount } from './accounts.ts';
export { checkAddress } from './addresses/check.ts';
export type { LiveEthereum } from './evm/live.ts';
export type { EvmNetwork } from './evm/network.ts';
export { checkEndpoints, type EndpointReport } from './evm/network-check.ts';
export { NetworksFileWrong, readNetworksFile } from './evm/networks-file.ts';
export type { NetworkFacts } from './live-chains.ts';
export { openEthereum } from './open-ethereum.ts';
export type {
  AddressCheck,
  Authority,
  Chain,
  ChainCaps,
  ChainTransfer,
  ChargeFault,
  ChargeSpec,
  Confirmations,
  Head,
  KeyRef,
  Mandate,
  MandatePeriod,
  MandateState,
  Movement,
  Precheck,
  ScanAnswer,
  SignedApproval,
  SignedTx,
  TxStatus,
  WatchSet,
} from './port.ts';
export {
  AddressPoolEmpty,
  CHARGE_FAULTS,
  ChainUnavailable,
  SignerUnavailable,
  SigningHeld,
  UnbuildableTransfer,
} from './port.ts';
export { type ChainOwner, type ChainRegistry, openChains } from './registry.ts';
export { addRiskAddress, isListed, listRiskAddresses, removeRiskAddress } from './risk-list.ts';
export { storedAddress, storedTxId } from './search-terms.ts';
export type { SimulatedTiming } from './simulated/adapter.ts';
export { migrateSimulatedChain } from './simulated/migrate.ts';
export type { PaidTransfer } from './simulated/receive.ts';
export type { SimulatedChain, SimulatedTransfer } from './simulated/simulated-chain.ts';
export { testAddresses } from './simulated/test-addresses.ts';
export { type ApprovalRule, SigningRefused } from './wallet-holder.ts';
