import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { lyingCalls } from '../lying-calls.ts';

/** Answers some calls otherwise than the node. */
export const lying = (node: TronNode, lie: Parameters<typeof lyingCalls>[1]): TronNode => ({
  newest: (view) => node.newest(view),
  everywhere: (request) => node.everywhere(request),
  ...lyingCalls(node, lie),
});
