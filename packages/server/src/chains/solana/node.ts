import type { RpcNode } from '../rpc/node.ts';

/** `confirmed`: two thirds of the stake have voted for it. `finalized`: no fork takes it back. */
export type Commitment = 'confirmed' | 'finalized';

/** A block as a node names it: slots may have none, heights count blocks alone. */
export interface Epoch {
  slot: bigint;
  blockHeight: bigint;
}

/** The JSON-RPC of one Solana network. */
export interface SolanaNode extends RpcNode {
  /** The newest block of a commitment that two endpoints have reached, or one of the operator's own. */
  newest(commitment: Commitment): Promise<Epoch>;
}
