import type { NodeRequest, RpcNode } from '../../packages/server/src/chains/rpc/node.ts';

type Lie = (method: string, answer: unknown, params: readonly unknown[]) => unknown;

export const lyingMany = (
  lie: Lie,
  requests: readonly NodeRequest[],
  answers: readonly unknown[],
): unknown[] => requests.map(({ method, params }, place) => lie(method, answers[place], params));

/** The calls of a node of which some are answered otherwise. */
export function lyingCalls(node: RpcNode, lie: Lie): RpcNode {
  return {
    call: async (method, params) => lie(method, await node.call(method, params), params),
    agreed: async (method, params) => lie(method, await node.agreed(method, params), params),
    callMany: async (requests) => lyingMany(lie, requests, await node.callMany(requests)),
    agreedMany: async (requests) => lyingMany(lie, requests, await node.agreedMany(requests)),
  };
}
