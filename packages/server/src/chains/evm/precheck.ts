import type { Asset } from '@florin/contract/money';
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, isHex } from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { Precheck, PrecheckedItem } from '../port/port-precheck.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { TOKEN_ABI } from './contracts.ts';
import type { EvmNetwork } from './network.ts';
import { type NodeReads, readQuantity } from './node-answers.ts';

/** What the token says of payments before anything is signed. */
export type TokenFindings = Pick<Precheck, 'refused' | 'unpayable' | 'allowance'>;

export interface TokenQuestions {
  sender: Address;
  asset: Asset;
  /** Empty for a sweep. */
  items: readonly PrecheckedItem[];
  /** The contract of ours that calls the token; null: none. */
  contract: Address | null;
}

interface Read {
  to: Address;
  data: Hex;
}

/**
 * Reads the token's pause and blacklist, and what the payout contract may pull, as of the newest block. What fails an item
 * must be agreed on by two endpoints. USDT looks at the sender alone; USDC at caller, sender and recipient.
 *
 * @throws ChainUnavailable
 */
export async function readToken(
  node: NodeReads,
  network: EvmNetwork,
  { sender, asset, items, contract }: TokenQuestions,
): Promise<TokenFindings> {
  const token = tokenOf(network, asset);
  const listed = asset === 'USDT' ? 'isBlackListed' : 'isBlacklisted';
  const isListed = (account: Address): Read => ({
    to: token,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: listed, args: [account] }),
  });
  // An address that cannot be read is refused when its payment is built, and fails alone.
  const recipients = asset === 'USDC' ? items.filter(({ to }) => checkErc20Address(to).ok) : [];
  const common: [NonNullable<Precheck['refused']>, Read][] = [
    ['token_paused', { to: token, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'paused' }) }],
    ['sender_blacklisted', isListed(sender)],
    ...(asset === 'USDC' && contract !== null
      ? [['contract_blacklisted', isListed(contract)] satisfies [NonNullable<Precheck['refused']>, Read]]
      : []),
  ];
  const answers = await readFlags(node, [
    ...common.map(([, read]) => read),
    ...recipients.map(({ to }) => isListed(toAddress(to))),
  ]);
  const refused = common.find((_, i) => answers[i] === true)?.[0] ?? null;
  const blocked = recipients.filter((_, i) => answers[common.length + i] === true);
  const isPulled = items.length > 0 && contract !== null;
  const allowance = isPulled ? await readAllowance(node, { token, owner: sender, spender: contract }) : null;
  return { refused, unpayable: new Set(blocked.map(({ itemId }) => itemId)), allowance };
}

/** An address's native coins, as of the newest block. */
export async function readNative(node: NodeReads, address: string): Promise<bigint> {
  return readQuantity(await node.call('eth_getBalance', [address, 'latest']), 'eth_getBalance');
}

export async function readTank(
  node: NodeReads,
  address: Address,
): Promise<Precheck['tank'] & { nextSequence: bigint }> {
  const count = await node.call('eth_getTransactionCount', [address, 'latest']);
  const nextSequence = readQuantity(count, 'eth_getTransactionCount');
  return { address, nextSequence, native: await readNative(node, address) };
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
    if (!isHex(answer)) throw new TypeError('this is no hexadecimal text');
    return decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: answer });
  } catch (error) {
    throw new ChainUnavailable('erc20', `the token's ${functionName} is unreadable`, error);
  }
}
