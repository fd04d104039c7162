import type { ProofOutcome } from '../../views/wallet.ts';
import type { BuiltRun, PageRun, WalletValues, WalletWord } from './run.ts';

// Steps of a payer with a wallet of any network.

const DECIMALS = 6;
const REASON_MAX = 160;

/** Ends it with words. */
export class Halt extends Error {
  readonly word: WalletWord;
  readonly values: WalletValues;

  constructor(word: WalletWord, values: WalletValues = {}) {
    super(word);
    this.word = word;
    this.values = values;
  }
}

/** The payer waits no longer. */
export class Stopped extends Error {}

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Accounts of Ethereum are spelled in two ways. */
export const isSame = (a: unknown, b: string) => String(a).toLowerCase() === b.toLowerCase();
export const shorten = (account: string) => `${account.slice(0, 6)}…${account.slice(-4)}`;

export function unitsOf(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

/** As the page writes amounts: two digits after the point or more, and not three, which read as thousands. */
export function decimalOf(units: bigint): string {
  const digits = String(units).padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -DECIMALS)}.${fraction.length === 3 ? `${fraction}0` : fraction}`;
}

export const codeOf = (error: unknown): unknown =>
  Object(error).code ?? Object(error).data?.originalError?.code;

/** The word for an account that cannot pay the network's fee; on Tron energy would do as well. */
export const feeWord = (coin: string): WalletWord => (coin === 'TRX' ? 'no_energy' : 'no_gas');

/** A wallet's error in words. `coin`: of the network's fees. */
export function wordsOf(error: unknown, account: string, coin: string): [WalletWord, WalletValues] {
  if (error instanceof Halt) return [error.word, error.values];
  const text = String(Object(error).message ?? error);
  const code = codeOf(error);
  const isRefused =
    code === 4001 || code === 'ACTION_REJECTED' || /declined by user|cancell?ed by/i.test(text);
  if (isRefused) return ['refused', {}];
  if (code === -32002) return ['busy', {}];
  if (code === 4100) return ['wrong_account', { account: shorten(account) }];
  if (code === 4900 || code === 4901 || /invalidated|disconnected/i.test(text)) return ['gone', {}];
  if (/insufficient funds/i.test(text)) return [feeWord(coin), { account: shorten(account), coin }];
  return ['error', { reason: text.slice(0, REASON_MAX) }];
}

/**
 * Once more before each step that a wallet cannot take back.
 *
 * @param isRight whether what the wallet would do pays what the page shows
 */
export function checkShown(run: PageRun, isRight: boolean): void {
  // The page says itself what became of the payment.
  if (!run.isPaying()) throw new Stopped();
  if (!run.isAsked()) throw new Halt('changed');
  const { address, amount } = run.readShown();
  const { due } = run;
  if (isRight && address === due.address && amount === `${due.amount}\u00a0${due.token}`) return;
  run.onTampered();
  throw new Stopped();
}

const PROOF_WORDS: Record<ProofOutcome, WalletWord> = {
  proven: 'proven',
  signature: 'bad_signature',
  expired: 'proof_away',
  other: 'other_wallet',
  away: 'proof_away',
};

/**
 * Asks the wallet to sign that it is the payer's. The payment counts whatever comes of this.
 *
 * @param sign the signature in hex
 */
export async function prove(
  run: PageRun,
  account: string,
  sign: (text: string) => Promise<string>,
): Promise<void> {
  try {
    const { text, token } = await run.readText(account);
    run.sayOfProof('sign');
    const signature = await sign(text).catch((error) => {
      throw new Halt(codeOf(error) === 4100 ? 'bad_signature' : 'not_signed');
    });
    run.sayOfProof(PROOF_WORDS[await run.prove(token, signature)]);
  } catch (error) {
    run.sayOfProof(error instanceof Halt ? error.word : 'proof_away');
  }
}

export const hexOf = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** The transaction that pays what the page shows, from that account, as the server has built it. */
export async function readTransaction(run: BuiltRun, account: string): Promise<string> {
  const { due } = run;
  const found = await run.readTransfer(account).catch(() => {
    throw new Halt('unreachable');
  });
  if (run.isStopped()) throw new Stopped();
  if ('isChanged' in found) throw new Halt('changed');
  if ('transaction' in found) return found.transaction;
  const lacking = { account: shorten(account) };
  if ('refused' in found) throw new Halt('token_refuses', lacking);
  if (found.short === 'fee') throw new Halt(feeWord(found.coin), { ...lacking, coin: found.coin });
  throw new Halt('no_token', { ...lacking, balance: found.held, amount: `${due.amount}\u00a0${due.token}` });
}

const SEEN_POLL_MS = 1_000;
/**
 * Until the page itself has noticed the payment. What is not there in time is late, or lost.
 *
 * @param withinMs as long as a block may take it
 */
export async function untilSeen(run: PageRun, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  while (run.isOpen() && run.isAsked()) {
    if (performance.now() > until) return run.say('unseen');
    await wait(SEEN_POLL_MS);
  }
}
