export { checkAddress } from './addresses/check.ts';
export type {
  AddressCheck,
  Broadcast,
  Chain,
  ChainCaps,
  Head,
  SignedTx,
  TransferItem,
  TransferSpec,
  TxStatus,
} from './port.ts';
export { ChainUnavailable, UnbuildableTransfer } from './port.ts';
export { type ChainOwner, type ChainRegistry, openChains } from './registry.ts';
export { addRiskAddress, isListed, listRiskAddresses, removeRiskAddress } from './risk-list.ts';
export { migrateSimulatedChain } from './simulated/migrate.ts';
export type { NodeFault } from './simulated/node-faults.ts';
export type { SimulatedChain, SimulatedTransfer } from './simulated/simulated-chain.ts';
export { testAddresses } from './simulated/test-addresses.ts';
