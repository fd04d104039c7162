import type { NodeRequest, RpcNode } from '../rpc/node.ts';

/** The JSON-RPC of one EVM network; quantities are hex. */
export interface EvmNode extends RpcNode {
  /** The header (`eth_getBlockByNumber`) of the newest block that two endpoints have reached, or one of the operator's own. */
  newest(tag: 'latest' | 'finalized'): Promise<unknown>;
  /** As `agreedMany`, by endpoints that have reached that block: what is as of the newest one is of it, or of a later one. */
  agreedFrom(height: bigint, requests: readonly NodeRequest[]): Promise<unknown[]>;
}
