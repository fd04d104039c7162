import type { Broadcast, SignedTx } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import { textOf } from './contract-call.ts';
import type { TronNode } from './node.ts';
import { unusable } from './node-answers.ts';
import { readSigned } from './signing.ts';

/** A node's code, our code, and whether the same bytes may be taken later. */
const REFUSALS: Readonly<Record<string, [code: string, retryable: boolean]>> = {
  SIGERROR: ['invalid_signature', false],
  TRANSACTION_EXPIRATION_ERROR: ['expired', false],
  // Of a node that is behind, or on a fork.
  TAPOS_ERROR: ['unknown_reference_block', true],
  BANDWITH_ERROR: ['out_of_bandwidth', true],
  CONTRACT_VALIDATE_ERROR: ['insufficient_funds', true],
  CONTRACT_EXE_ERROR: ['refused', true],
  SERVER_BUSY: ['busy', true],
  NO_CONNECTION: ['busy', true],
  NOT_ENOUGH_EFFECTIVE_CONNECTION: ['busy', true],
  BLOCK_UNSOLIDIFIED: ['busy', true],
  TOO_BIG_TRANSACTION_ERROR: ['malformed', false],
};

/**
 * Sends stored bytes to all nodes, as often as anybody likes. The answer proves nothing: `status` does.
 *
 * @throws ChainUnavailable where no node answered: they may have been sent
 */
export async function sendSigned(node: TronNode, tx: SignedTx): Promise<Broadcast> {
  const fault = findFault(tx);
  if (fault !== undefined) return { result: 'rejected', code: fault, retryable: false };
  const transaction = tx.raw.slice(2);
  const answers = await node.everywhere({ method: 'wallet/broadcasthex', params: [{ transaction }] });
  return mostWilling(answers.map((answer) => readAnswer(answer, tx)));
}

/** What the nodes together have said: one that takes it counts more than others that refuse. */
function mostWilling(answers: readonly Broadcast[]): Broadcast {
  const taken =
    answers.find(({ result }) => result === 'accepted') ?? answers.find(({ result }) => result === 'known');
  const later = answers.find((one) => one.result === 'rejected' && one.retryable);
  const best = taken ?? later ?? answers[0];
  if (best === undefined) throw unusable('no node answers to a transaction');
  return best;
}

function readAnswer(given: unknown, { txId }: SignedTx): Broadcast {
  // A node that throws, or that has the call switched off.
  if (given instanceof NodeError) return { result: 'rejected', code: 'refused', retryable: true };
  const answer: Record<string, unknown> = { ...Object(given) };
  if (answer.result !== true) return classifyRefusal(answer);
  return answer.txid === undefined || answer.txid === txId
    ? { result: 'accepted' }
    : { result: 'rejected', code: 'wrong_id', retryable: true };
}

function findFault({ network, txId, raw, sender, itemIds }: SignedTx): string | undefined {
  if (network !== 'trc20') return 'wrong_network';
  const signed = readSigned(raw);
  if (signed === undefined || itemIds.length !== 1) return 'malformed';
  if (signed.txId !== txId) return 'wrong_id';
  return signed.transaction.contract.owner === sender ? undefined : 'wrong_sender';
}

/** Reads a node's refusal. What nobody has foreseen may be taken later. */
export function classifyRefusal({ code, message }: Record<string, unknown>): Broadcast {
  if (code === 'DUP_TRANSACTION_ERROR') return { result: 'known' };
  const known = typeof code === 'string' && Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  const [name, retryable] = known ?? ['refused', true];
  // The same code stands for much: a call that nobody can make, and an account without TRX.
  if (name === 'insufficient_funds' && !/balance|resource|not exist/i.test(textOf(message)))
    return { result: 'rejected', code: 'refused', retryable };
  return { result: 'rejected', code: name, retryable };
}
