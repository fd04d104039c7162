import { Halt, hexOf, Stopped } from './payer-steps.ts';
import type { PageRun, StandardWallet } from './run.ts';

// Steps that a wallet of the wallet standard is led through, to pay and to be charged.

export interface Account {
  readonly address: string;
}

/** A wallet on a chain, as the standard names it. */
interface StandardSteps extends Pick<PageRun, 'isStopped' | 'say'> {
  wallet: StandardWallet;
  chain: string;
}

export const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

export async function connect({ wallet, chain, isStopped, say }: StandardSteps): Promise<Account> {
  say('connecting');
  const { accounts } = Object(await Object(wallet.features['standard:connect']).connect());
  if (isStopped()) throw new Stopped();
  const all: readonly unknown[] = Array.isArray(accounts) ? accounts : [];
  const isOfChain = (one: unknown) => Object(one).chains?.includes?.(chain) === true;
  const account = all.find(isOfChain) ?? all[0];
  if (typeof Object(account).address !== 'string') throw new Halt('refused');
  return Object(account);
}

/** @returns the signature; empty if the wallet returns none. */
export async function signAndSend(
  { wallet, chain }: StandardSteps,
  account: Account,
  transaction: Uint8Array,
): Promise<Uint8Array> {
  const { signAndSendTransaction } = Object(wallet.features['solana:signAndSendTransaction']);
  // The node that tries it first has to know a block that is not final yet. What was sent is sent, whether somebody still waits or not.
  const options = { preflightCommitment: 'confirmed' };
  return signatureIn(await signAndSendTransaction({ account, chain, transaction, options }));
}

export const canSign = ({ wallet }: StandardSteps): boolean =>
  typeof Object(wallet.features['solana:signMessage']).signMessage === 'function';

/** In hex. */
export async function signText({ wallet }: StandardSteps, account: Account, text: string): Promise<string> {
  const { signMessage } = Object(wallet.features['solana:signMessage']);
  return hexOf(signatureIn(await signMessage({ account, message: new TextEncoder().encode(text) })));
}

function signatureIn(answer: unknown): Uint8Array {
  const { signature } = Object(Array.isArray(answer) ? answer[0] : undefined);
  return Uint8Array.from(signature ?? []);
}
