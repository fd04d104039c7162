import type { NodeRequest, RpcNode } from '../../packages/server/src/chains/rpc/node.ts';

type Lie = (method: string, answer: unknown, params: readonly unknown[]) => unknown;

/** The calls of a node of which some are answered otherwise. */
export function lyingCalls(node: RpcNode, lie: Lie): RpcNode {
  const many = (requests: readonly NodeRequest[], answers: readonly unknown[]) =>
    requests.map(({ method, params }, place) => lie(method, answers[place], params));
  return {
    call: async (method, params) => lie(method, await node.call(method, params), params),
    agreed: async (method, params) => lie(method, await node.agreed(method, params), params),
    callMany: async (requests) => many(requests, await node.callMany(requests)),
    agreedMany: async (requests) => many(requests, await node.agreedMany(requests)),
  };
}
