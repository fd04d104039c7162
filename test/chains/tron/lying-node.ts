import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { lyingCalls, lyingMany } from '../lying-calls.ts';

/** Answers some calls otherwise than the node. */
export const lying = (node: TronNode, lie: Parameters<typeof lyingCalls>[1]): TronNode => ({
  newest: (view) => node.newest(view),
  everywhere: (request) => node.everywhere(request),
  agreedFrom: async (block, requests) => lyingMany(lie, requests, await node.agreedFrom(block, requests)),
  witnessesFrom: async (block, requests) =>
    (await node.witnessesFrom(block, requests)).map((answers) => lyingMany(lie, requests, answers)),
  ...lyingCalls(node, lie),
});

/** Two endpoints, of which one answers otherwise where one is asked alone, or each for itself. */
export const oneLying = (node: TronNode, lie: Parameters<typeof lyingCalls>[1]): TronNode => ({
  ...lying(node, lie),
  agreed: (method, params) => node.agreed(method, params),
  agreedMany: (requests) => node.agreedMany(requests),
  agreedFrom: (block, requests) => node.agreedFrom(block, requests),
  witnessesFrom: async (block, requests) =>
    (await node.witnessesFrom(block, requests)).flatMap((answers) => [
      lyingMany(lie, requests, answers),
      answers,
    ]),
});
