import type { Broadcast, SignedTx } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import { contentOf, countItems } from './content.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readSigned, type SignedContent, senderOf } from './transaction.ts';

type Rejection = Extract<Broadcast, { result: 'rejected' }>;

/**
 * Sends stored bytes, as often as anybody likes. The answer proves nothing: `status` does.
 *
 * @throws ChainUnavailable where no node answered: they may have been sent
 */
export async function sendSigned(node: EvmNode, network: EvmNetwork, tx: SignedTx): Promise<Broadcast> {
  const fault = await findFault(network, tx);
  if (fault !== undefined) return { result: 'rejected', code: fault, retryable: false };
  try {
    const hash = await node.call('eth_sendRawTransaction', [tx.raw]);
    if (typeof hash === 'string' && hash.toLowerCase() === tx.txId) return { result: 'accepted' };
    return { result: 'rejected', code: 'wrong_hash', retryable: true };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return await judgeRejection(node, tx, error);
  }
}

/** Nodes say `nonce too low` of a transaction that they have mined, too. */
async function judgeRejection(node: EvmNode, tx: SignedTx, error: NodeError): Promise<Broadcast> {
  const answer = classifyRejection(error.message);
  if (answer === 'known') return { result: 'known' };
  if (answer.code === 'nonce_too_low' && (await hasReceipt(node, tx.txId))) return { result: 'known' };
  return answer;
}

async function hasReceipt(node: EvmNode, txId: string): Promise<boolean> {
  return (await node.call('eth_getTransactionReceipt', [txId])) !== null;
}

/** Code, whether the same bytes may be taken later, and how geth, erigon, nethermind, besu, reth and anvil say it. */
const MESSAGES: readonly [code: string, retryable: boolean, form: RegExp][] = [
  ['replacement_underpriced', true, /replacement|could not replace|tries to replace pending/],
  ['nonce_too_low', false, /nonce too low|oldnonce|nonce (?:is )?below|nonce (?:is )?too low/],
  ['nonce_too_high', true, /nonce too high|noncegap|nonce gap|gapped[- ]nonce|nonce (?:is )?too distant/],
  ['insufficient_funds', true, /insufficient ?funds|exceeds account balance|insufficient balance/],
  [
    'gas_limit_too_high',
    false,
    /gas limit too high|exceeds block gas limit|exceeds transaction gas limit|gaslimitexceeded|gaslimitcapexceeded|gas too high/,
  ],
  ['gas_limit_too_low', false, /intrinsic gas too low|gaslimittoolow|intrinsic gas exceeds|floor data gas/],
  [
    'fee_too_low',
    true,
    /underpriced|feetoolow|fee too low|below configured minimum|less than block base fee/,
  ],
  ['wrong_chain', false, /chain ?id/],
  ['invalid_signature', false, /invalid (?:sender|signature)|invalidtxsignature|signature invalid/],
  ['pool_full', true, /txpool is full|pool is full|mempool is full|limit reached|in-flight/],
];

const KNOWN = /already ?known|already imported|\bknown transaction|already in (?:the )?(?:mem)?pool/;

/** Reads the words of a node's refusal. What nobody has foreseen may be taken later. */
export function classifyRejection(message: string): Rejection | 'known' {
  const text = message.toLowerCase();
  if (KNOWN.test(text)) return 'known';
  const found = MESSAGES.find(([, , form]) => form.test(text));
  const [code, retryable] = found ?? ['refused', true];
  return { result: 'rejected', code, retryable };
}

/** Why these are not bytes of ours for that network; undefined where they are. */
async function findFault(network: EvmNetwork, tx: SignedTx): Promise<string | undefined> {
  if (tx.network !== 'erc20') return 'wrong_network';
  const content = readSigned(tx.raw);
  if (content === undefined) return 'malformed';
  if (content.chainId !== network.chainId) return 'wrong_chain';
  if (content.txId !== tx.txId) return 'wrong_id';
  if (!matches(tx, content)) return 'malformed';
  return (await senderOf(tx.raw)) === tx.sender ? undefined : 'invalid_signature';
}

/**
 * The bytes name places of a group, not the caller's ids: only their number can be compared. A fill has none, and its caller
 * names it by the attempt.
 */
function matches(tx: SignedTx, content: SignedContent): boolean {
  const of = contentOf(content);
  const isAlike = of.kind === 'movement' ? tx.itemIds.length <= 1 : countItems(of) === tx.itemIds.length;
  return String(content.nonce) === tx.sequence && isAlike;
}
