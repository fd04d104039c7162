import type { Asset } from '@florin/contract/money';
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import { ChainUnavailable } from '../port-errors.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { TOKEN_ABI } from './contracts.ts';
import type { EvmNetwork } from './network.ts';
import { type NodeReads, readQuantity } from './node-answers.ts';

/** Why the token would refuse a payment. */
export type UnpayableReason =
  | 'token_paused'
  | 'sender_blacklisted'
  | 'contract_blacklisted'
  | 'recipient_blacklisted';

/** What stands in the way of a payment, read before anything is signed. */
export interface Precheck {
  /** In the order of the request; null: nothing is known against it. */
  unpayable: readonly (UnpayableReason | null)[];
  /** The payout contract may pull less than the sum of the payable items: a movement `approve` has to come first. */
  needsApproval: { allowance: bigint; needed: bigint } | null;
  /** The sender cannot pay the fee, in wei: a movement `gas` has to come first. */
  needsGas: { balance: bigint; needed: bigint } | null;
}

export interface PrecheckRequest {
  sender: Address;
  asset: Asset;
  items: readonly { to: string; amount: bigint }[];
  /** The most that the transaction can cost, in wei. */
  feeLimit: bigint;
}

interface Read {
  to: Address;
  data: Hex;
}

/**
 * Reads the token's pause and blacklist, the allowance and the sender's native coin, as of the newest block. What fails an
 * item must be agreed on by two endpoints. USDT looks at the sender alone; USDC at caller, sender and recipient.
 *
 * @throws ChainUnavailable
 */
export async function precheck(
  node: NodeReads,
  network: EvmNetwork,
  request: PrecheckRequest,
): Promise<Precheck> {
  const { sender, asset, items, feeLimit } = request;
  const token = tokenOf(network, asset);
  const listed = asset === 'USDT' ? 'isBlackListed' : 'isBlacklisted';
  const isListed = (account: Address): Read => ({
    to: token,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: listed, args: [account] }),
  });
  const contract = network.batchPayout === null ? null : toAddress(network.batchPayout);
  const recipients = asset === 'USDC' ? items.map(({ to }) => toAddress(to)) : [];
  const common: [UnpayableReason, Read][] = [
    ['token_paused', { to: token, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'paused' }) }],
    ['sender_blacklisted', isListed(sender)],
    ...(asset === 'USDC' && contract !== null
      ? [['contract_blacklisted', isListed(contract)] satisfies [UnpayableReason, Read]]
      : []),
  ];
  const answers = await readFlags(node, [...common.map(([, read]) => read), ...recipients.map(isListed)]);
  const forAll = common.find((_, i) => answers[i] === true)?.[0] ?? null;
  const refused = answers.slice(common.length);
  const unpayable = items.map((_, i) => forAll ?? (refused[i] === true ? 'recipient_blacklisted' : null));
  const sum = items.reduce((total, { amount }, i) => (unpayable[i] === null ? total + amount : total), 0n);
  const allowance =
    contract === null ? sum : await readAllowance(node, { token, owner: sender, spender: contract });
  const balance = readQuantity(await node.call('eth_getBalance', [sender, 'latest']), 'eth_getBalance');
  return {
    unpayable,
    needsApproval: allowance < sum ? { allowance, needed: sum } : null,
    needsGas: balance < feeLimit ? { balance, needed: feeLimit } : null,
  };
}

/** What `spender` may pull of `owner`'s tokens, as of the newest block. */
export async function readAllowance(
  node: NodeReads,
  { token, owner, spender }: { token: Address; owner: Address; spender: Address },
): Promise<bigint> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args: [owner, spender] });
  const answer = await node.call('eth_call', callParams({ to: token, data }));
  return decode('allowance', answer);
}

/** Yes or no each, false where the contract has no such function. A yes is asked for again, of two endpoints. */
async function readFlags(node: NodeReads, reads: readonly Read[]): Promise<boolean[]> {
  const requests = reads.map((read) => ({ method: 'eth_call', params: callParams(read) }));
  const answers = await node.callMany(requests);
  return await Promise.all(
    reads.map(async (read, i) => {
      if (!isYes(answers[i])) return false;
      const agreed = await node.agreed('eth_call', callParams(read));
      if (isYes(agreed)) return true;
      throw new ChainUnavailable('erc20', 'the nodes do not agree on what a token refuses');
    }),
  );
}

const callParams = ({ to, data }: Read): unknown[] => [{ to, data }, 'latest'];

const TRUE = `0x${'1'.padStart(64, '0')}`;

function isYes(answer: unknown): boolean {
  return answer === TRUE;
}

function decode(functionName: 'allowance', answer: unknown): bigint {
  try {
    return decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: String(answer) as Hex });
  } catch (error) {
    throw new ChainUnavailable('erc20', `the token's ${functionName} is unreadable`, error);
  }
}
