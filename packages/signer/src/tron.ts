export { accountOfTron, readTronAddress, tronAddressOf, tronOfAccount } from './tron/address.ts';
export {
  decodeSignedTron,
  decodeTronTransaction,
  encodeSignedTron,
  encodeTronTransaction,
  type SignedTronTransaction,
  type TronContract,
  type TronResource,
  type TronTransaction,
  tronTransactionId,
} from './tron/transaction.ts';
