import { codeOf, Halt, Stopped } from './payer-steps.ts';
import type { WalletSteps, WalletWord } from './run.ts';

// Steps that a wallet of Ethereum is led through, to pay and to be charged.

export const POLL_EVERY_MS = 3_000;
/** Polls in a row that do not find a transaction, before that is said. */
export const MISSED_MAX = 20;
const WORD = 64;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

export const wordOf = (hex: string) => hex.replace(/^0x/, '').toLowerCase().padStart(WORD, '0');

export async function ask(
  run: WalletSteps,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  if (run.isStopped()) throw new Stopped();
  const answer = await run.provider.request({ method, params });
  if (run.isStopped()) throw new Stopped();
  return answer;
}

export async function connect(run: WalletSteps): Promise<string> {
  run.say('connecting');
  const accounts = await ask(run, 'eth_requestAccounts');
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof account !== 'string' || !ADDRESS.test(account)) throw new Halt('refused');
  return account;
}

const isOnChain = async (run: WalletSteps) => Number(await ask(run, 'eth_chainId')) === run.chain.id;

/** Whether the wallet has done it. @throws what it says where the payer refuses */
async function isTaken(run: WalletSteps, method: string, what: object): Promise<boolean> {
  try {
    await ask(run, method, [what]);
    return true;
  } catch (error) {
    if (error instanceof Stopped || codeOf(error) === 4001) throw error;
    return false;
  }
}

export async function chooseChain(run: WalletSteps): Promise<void> {
  if (await isOnChain(run)) return;
  const { id, name, endpoint } = run.chain;
  const chainId = `0x${id.toString(16)}`;
  run.say('switching', { network: name });
  const isDone = await isTaken(run, 'wallet_switchEthereumChain', { chainId });
  // It does not know the chain, or cannot switch. Without a node to add it with the payer chooses it by hand.
  if (!isDone && endpoint !== null) {
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
    const chain = { chainId, chainName: name, nativeCurrency, rpcUrls: [endpoint] };
    await isTaken(run, 'wallet_addEthereumChain', chain);
  }
  if (!(await isOnChain(run))) throw new Halt('wrong_network', { network: name, id });
}

/** A wallet that does not answer such questions says later itself what is missing. */
export async function readOrSkip(
  run: WalletSteps,
  method: string,
  params: readonly unknown[],
): Promise<bigint | null> {
  try {
    return BigInt(String(await ask(run, method, params)));
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return null;
  }
}

/** Reads that tell what became of a transaction; undefined: no answer. */
export const reader =
  ({ provider }: WalletSteps) =>
  (method: string, ...params: unknown[]) =>
    provider.request({ method, params }).catch(() => undefined);

export interface Sent {
  hash: string;
  account: string;
  /** Transactions of the account in blocks before. */
  count: bigint | null;
}

/** The network does not know the transaction any more: another of the account has taken its number, or it was lost. */
export async function lossOf(run: WalletSteps, { account, count }: Sent): Promise<WalletWord> {
  const now = await reader(run)('eth_getTransactionCount', account, 'latest');
  return count !== null && typeof now === 'string' && BigInt(now) > count ? 'replaced' : 'dropped';
}
