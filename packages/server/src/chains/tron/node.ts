import type { NodeRequest, RpcNode } from '../rpc/node.ts';

/** `solid`: what two thirds of the producers have built on, which no fork takes back. */
export type TronView = 'head' | 'solid';

/** How far an endpoint has to be in a view. */
export interface Reached {
  view: TronView;
  height: bigint;
}

/**
 * The HTTP interface of one Tron network: a method is a path, such as `wallet/getblock`, with one object of fields. Of answers what is read of
 * them is kept (`reduced.ts`).
 */
export interface TronNode extends RpcNode {
  /** The header (`getblock`) of the newest block of a view that two endpoints have reached, or one of the operator's own. */
  newest(view: TronView): Promise<unknown>;
  /** As `agreedMany`, by endpoints that have reached that block of the view: states are of it, or of a later one. */
  agreedFrom(block: Reached, requests: readonly NodeRequest[]): Promise<unknown[]>;
  /**
   * The answers of the operator's own node, or of all other endpoints, at least two, that have reached that block: for what no two tell
   * alike, as what a call uses.
   */
  witnessesFrom(block: Reached, requests: readonly NodeRequest[]): Promise<unknown[][]>;
  /** The answers of all endpoints that give one, at least one; a refusal is its `NodeError`. */
  everywhere(request: NodeRequest): Promise<unknown[]>;
}

/** A call of one of the two views, which have paths of their own. */
export function ofView(view: TronView, call: string): string {
  return `${view === 'solid' ? 'walletsolidity' : 'wallet'}/${call}`;
}
