import type { SolanaNode } from '../../../packages/server/src/chains/solana/node.ts';
import { lyingCalls } from '../lying-calls.ts';

/** Answers some calls otherwise than the node. */
export const lying = (node: SolanaNode, lie: Parameters<typeof lyingCalls>[1]): SolanaNode => ({
  newest: (commitment) => node.newest(commitment),
  newestBlockhash: () => node.newestBlockhash(),
  ...lyingCalls(node, lie),
});

/** What a node shows of a transaction. */
export interface Shown {
  transaction: { message: { instructions: { data: string }[] } };
  meta: Record<string, unknown>;
}

/** With an instruction whose data nobody would want to read. */
export function withLongData(shown: Shown): Shown {
  const copy = structuredClone(shown);
  for (const one of copy.transaction.message.instructions) one.data = `3${'1'.repeat(5_000)}`;
  return copy;
}
