export {
  isOnCurve,
  MEMO_PROGRAM,
  readSolanaAddress,
  solanaAddressOf,
  TOKEN_PROGRAM,
  tokenAccountOf,
} from './solana/address.ts';
export type { SolanaInstruction } from './solana/instruction.ts';
export { isMandateSigned, mandateIdOf, mandateText, type SolanaMandate } from './solana/mandate.ts';
export {
  decodeSignedSolana,
  decodeSolanaMessage,
  encodeSignedSolana,
  encodeSolanaMessage,
  type SignedSolanaTransaction,
  type SolanaMessage,
  signersOf,
  solanaTransactionId,
} from './solana/message.ts';
export { memoOf } from './solana/purposes.ts';
