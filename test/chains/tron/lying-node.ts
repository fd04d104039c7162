import type { NodeRequest } from '../../../packages/server/src/chains/rpc/node.ts';
import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';

/** Answers some calls otherwise than the node. */
export function lying(
  node: TronNode,
  lie: (method: string, answer: unknown, params: readonly unknown[]) => unknown,
): TronNode {
  const many = (requests: readonly NodeRequest[], answers: readonly unknown[]) =>
    requests.map(({ method, params }, place) => lie(method, answers[place], params));
  return {
    newest: (view) => node.newest(view),
    call: async (method, params) => lie(method, await node.call(method, params), params),
    agreed: async (method, params) => lie(method, await node.agreed(method, params), params),
    callMany: async (requests) => many(requests, await node.callMany(requests)),
    agreedMany: async (requests) => many(requests, await node.agreedMany(requests)),
  };
}
