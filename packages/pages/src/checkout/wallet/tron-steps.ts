import { Halt, Stopped, shorten, wait } from './payer-steps.ts';
import type { PageRun, TronProvider } from './run.ts';
import type { TronTransaction } from './tron-transaction.ts';

// Steps that a wallet of Tron is led through, to pay and to be charged.

/** A wallet puts its account into the page a moment after it has agreed. */
const ACCOUNT_TRIES = 30;
const ACCOUNT_EVERY_MS = 100;
const CHAIN_DIGITS = 8;

export interface TronSteps extends Pick<PageRun, 'isStopped' | 'say'> {
  provider: TronProvider;
  /** It does not know the calls of TIP-1193. */
  isOld: boolean;
}

/** The library that the wallet puts into the page, and the account that it uses now. */
export const libraryOf = ({ provider }: Pick<TronSteps, 'provider'>) => Object(provider.tronWeb);
const accountOf = (run: TronSteps): unknown => libraryOf(run).defaultAddress?.base58;

/** Newer wallets answer as on Ethereum, older ones have a call of their own, whose answer has a code. */
export async function connect(run: TronSteps): Promise<string> {
  run.say('connecting');
  const method = run.isOld ? 'tron_requestAccounts' : 'eth_requestAccounts';
  const { code } = Object(await run.provider.request({ method }));
  if (code === 4001) throw new Halt('refused');
  for (let tries = 0; tries < ACCOUNT_TRIES; tries++) {
    if (run.isStopped()) throw new Stopped();
    const account = accountOf(run);
    if (typeof account === 'string' && account !== '') return account;
    await wait(ACCOUNT_EVERY_MS);
  }
  throw new Halt('busy');
}

/** By the first block that the wallet's own node shows. Where it shows none, the network refuses what is not of it. */
export async function checkChain(run: TronSteps, { id, name }: { id: number; name: string }): Promise<void> {
  const first: unknown = await Promise.resolve(libraryOf(run).trx?.getBlockByNumber?.(0)).catch(
    () => undefined,
  );
  const { blockID } = Object(first);
  if (run.isStopped()) throw new Stopped();
  if (typeof blockID !== 'string' || Number.parseInt(blockID.slice(-CHAIN_DIGITS), 16) === id) return;
  throw new Halt('wrong_network', { network: name, id });
}

/** The payer may have chosen another one in the wallet. */
export function checkAccount(run: TronSteps, account: string): void {
  if (accountOf(run) !== account) throw new Halt('wrong_account', { account: shorten(account) });
}

/** @param isStill what was signed is not sent yet: whether it still may be */
export async function signAndSend(
  run: TronSteps,
  transaction: TronTransaction,
  isStill: () => boolean,
): Promise<void> {
  const { trx } = libraryOf(run);
  const { txID, raw_data_hex: hex } = transaction;
  const signed = await trx.sign(transaction);
  const { txID: signedId, raw_data_hex: signedHex } = Object(signed);
  if (signedId !== txID || signedHex !== hex) throw new Halt('differs');
  if (run.isStopped()) throw new Stopped();
  if (!isStill()) throw new Halt('changed');
  // Where no answer comes it may have been sent.
  const answer = await Promise.resolve(trx.sendRawTransaction(signed)).catch(() => {
    throw new Halt('gone');
  });
  const { result, code } = Object(answer);
  if (result !== true && code !== 'DUP_TRANSACTION_ERROR')
    throw new Error(String(code ?? 'the network has refused the transaction'));
}
