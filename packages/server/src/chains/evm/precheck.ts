import type { Asset } from '@florin/contract/money';
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, isHex } from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { Precheck, PrecheckedItem } from '../port/port-precheck.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { TOKEN_ABI } from './contracts.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
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
  /** Height of a final block. Only endpoints that have reached it are asked. */
  from: bigint;
}

type AgreedReads = Pick<EvmNode, 'agreedFrom'>;

interface Read {
  to: Address;
  data: Hex;
}

/**
 * Reads the token's pause and blacklist, and what the payout contract may pull, as of the newest block. Two endpoints must agree: one that
 * hides a block of the issuer's would make charges fail as their payers' fault. USDT looks at the sender alone; USDC at caller, sender and
 * recipient.
 *
 * @throws ChainUnavailable
 */
export async function readToken(
  node: AgreedReads,
  network: EvmNetwork,
  { sender, asset, items, contract, from }: TokenQuestions,
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
  const reads = [...common.map(([, read]) => read), ...recipients.map(({ to }) => isListed(toAddress(to)))];
  const answers = await readFlags(node, reads, from);
  const refused = common.find((_, i) => answers[i] === true)?.[0] ?? null;
  const blocked = recipients.filter((_, i) => answers[common.length + i] === true);
  const isPulled = items.length > 0 && contract !== null;
  const allowance = isPulled
    ? await readAllowance(node, { token, owner: sender, spender: contract, from })
    : null;
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

/** What `spender` may pull of `owner`'s tokens, as of the newest block of two endpoints that agree. */
export async function readAllowance(
  node: AgreedReads,
  { token, owner, spender, from }: { token: Address; owner: Address; spender: Address; from: bigint },
): Promise<bigint> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args: [owner, spender] });
  const [answer] = await readAgreed(node, [{ to: token, data }], from);
  return decode('allowance', answer);
}

/** Yes or no each, false where the contract has no such function. */
async function readFlags(node: AgreedReads, reads: readonly Read[], from: bigint): Promise<boolean[]> {
  return (await readAgreed(node, reads, from)).map((answer) => answer === TRUE);
}

async function readAgreed(node: AgreedReads, reads: readonly Read[], from: bigint): Promise<unknown[]> {
  const requests = reads.map((read) => ({ method: 'eth_call', params: [read, 'latest'] }));
  return await node.agreedFrom(from, requests);
}

const TRUE = `0x${'1'.padStart(64, '0')}`;

function decode(functionName: 'allowance', answer: unknown): bigint {
  try {
    if (!isHex(answer)) throw new TypeError('this is no hexadecimal text');
    return decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: answer });
  } catch (error) {
    throw new ChainUnavailable('erc20', `the token's ${functionName} is unreadable`, error);
  }
}
