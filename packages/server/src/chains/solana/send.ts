import type { Broadcast, SignedTx } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readContext, readList } from './node-answers.ts';
import { readSigned } from './signing.ts';

type Rejection = Extract<Broadcast, { result: 'rejected' }>;

const KEPT = 10_000;

/** What nodes have taken from this process: none of them keeps, or shows, transactions that wait for a block. */
export class Accepted {
  readonly #slots = new Map<string, bigint>();

  note(txId: string, slot: bigint): void {
    const [oldest] = this.#slots.keys();
    if (this.#slots.size >= KEPT && oldest !== undefined) this.#slots.delete(oldest);
    this.#slots.delete(txId);
    this.#slots.set(txId, slot);
  }

  at(txId: string): bigint | undefined {
    return this.#slots.get(txId);
  }
}

/**
 * Sends stored bytes, as often as anybody likes. It is sent without a simulation: one that fails lands in a block too, which
 * proves that nothing moved a minute before its blockhash would. The answer proves nothing: `status` does.
 *
 * @throws ChainUnavailable where no node answered: they may have been sent
 */
export async function sendSigned(
  { node, feed, accepted }: { node: SolanaNode; feed: HeadFeed; accepted: Accepted },
  tx: SignedTx,
): Promise<Broadcast> {
  const fault = findFault(tx);
  if (fault !== undefined) return { result: 'rejected', code: fault, retryable: false };
  const { tip } = await feed.heads('now');
  if (accepted.at(tx.txId) === tip.slot) return { result: 'known' };
  const statuses = await orUnavailable(node.call('getSignatureStatuses', [[tx.txId]]));
  const [known] = readList(readContext(statuses, 'getSignatureStatuses').value, 'getSignatureStatuses');
  if (known !== null && known !== undefined) return { result: 'known' };
  const lastValid = tx.validUntil?.height;
  // Nodes would take it and leave it out of every block.
  if (lastValid !== undefined && tip.blockHeight > BigInt(lastValid))
    return { result: 'rejected', code: 'blockhash_expired', retryable: false };
  const bytes = Buffer.from(tx.raw.slice(2), 'hex').toString('base64');
  try {
    const config = { encoding: 'base64', skipPreflight: true };
    const txId = await node.call('sendTransaction', [bytes, config]);
    if (txId !== tx.txId) return { result: 'rejected', code: 'wrong_id', retryable: true };
    accepted.note(tx.txId, tip.slot);
    return { result: 'accepted' };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const answer = classifyRejection(error);
    return answer === 'known' ? { result: 'known' } : answer;
  }
}

/** Code of JSON-RPC or words of the node, our code, and whether the same bytes may be taken later. */
const REFUSALS: readonly [match: number | RegExp, code: string, retryable: boolean][] = [
  [/blockhash not found/i, 'blockhash_not_found', true],
  [-32_003, 'invalid_signature', false],
  [/signature verification/i, 'invalid_signature', false],
  [/insufficient funds|no record of a prior credit/i, 'insufficient_funds', true],
  [-32_002, 'simulation_failed', true],
  [-32_005, 'node_behind', true],
  [-32_016, 'node_behind', true],
  [-32_602, 'malformed', false],
];

/** Reads a node's refusal. What nobody has foreseen may be taken later. */
export function classifyRejection({ code, message }: NodeError): Rejection | 'known' {
  if (/already (?:been )?processed/i.test(message)) return 'known';
  const found = REFUSALS.find(([match]) =>
    typeof match === 'number' ? match === code : match.test(message),
  );
  const [, name, retryable] = found ?? [0, 'refused', true];
  return { result: 'rejected', code: name, retryable };
}

/** Why these are not bytes of ours; undefined where they are. */
function findFault(tx: SignedTx): string | undefined {
  if (tx.network !== 'spl') return 'wrong_network';
  const content = readSigned(tx.raw);
  if (content === undefined) return 'malformed';
  if (content.txId !== tx.txId) return 'wrong_id';
  const transfers = content.message.instructions.filter(({ kind }) => kind === 'transfer');
  return transfers.length === tx.itemIds.length ? undefined : 'malformed';
}
