import type { RpcNode } from '../rpc/node.ts';

/** `confirmed`: two thirds of the stake have voted for it. `finalized`: no fork takes it back. */
export type Commitment = 'confirmed' | 'finalized';

/** A block as a node names it: slots may have none, heights count blocks alone. */
export interface Epoch {
  slot: bigint;
  blockHeight: bigint;
}

/** By which a transaction is valid for so many blocks. */
export interface NamedBlockhash {
  blockhash: string;
  /** The last block that a transaction with it can be in, as a node names it. */
  lastValid: bigint;
  /** Of the newest block that its node knew. */
  slot: bigint;
}

/** The JSON-RPC of one Solana network. */
export interface SolanaNode extends RpcNode {
  /** The newest block of a commitment that two endpoints have reached, or one of the operator's own. */
  newest(commitment: Commitment): Promise<Epoch>;
  /** The newest blockhash of the endpoint that is second furthest, or of the operator's own: another one knows it too. */
  newestBlockhash(): Promise<NamedBlockhash>;
}
