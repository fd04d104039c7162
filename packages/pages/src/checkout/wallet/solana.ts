import { checkShown, Halt, hexOf, prove, Stopped, shorten, unitsOf, wait, wordsOf } from './payer-steps.ts';
import type { SolanaRun } from './run.ts';
import { paysDue } from './solana-transaction.ts';

// Loaded when the payer chooses a wallet of Solana.

const COIN = 'SOL';
const POLL_EVERY_MS = 1_000;
/** A transaction that no block has taken until then never is. */
const SEEN_WITHIN_MS = 120_000;

interface Account {
  readonly address: string;
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

async function connect(run: SolanaRun): Promise<Account> {
  run.say('connecting');
  const { accounts } = Object(await Object(run.wallet.features['standard:connect']).connect());
  if (run.isStopped()) throw new Stopped();
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof Object(account).address !== 'string') throw new Halt('refused');
  return Object(account);
}

/** The transaction that pays what the page shows, from that account. */
async function readTransaction(run: SolanaRun, account: string): Promise<Uint8Array> {
  const { due } = run;
  const found = await run.readTransfer(account);
  if (run.isStopped()) throw new Stopped();
  if ('isChanged' in found) throw new Halt('changed');
  if ('transaction' in found) return bytesOf(found.transaction);
  const lacking = { account: shorten(account) };
  if (found.short === 'fee') throw new Halt('no_gas', { ...lacking, coin: found.coin });
  throw new Halt('no_token', { ...lacking, balance: found.held, amount: `${due.amount}\u00a0${due.token}` });
}

async function send(run: SolanaRun, account: Account): Promise<void> {
  const transaction = await readTransaction(run, account.address);
  const { chain, contract: mint } = run.due.wallet;
  const units = unitsOf(run.due.amount);
  checkShown(run, paysDue(transaction, { from: account.address, to: run.due.address, mint, units }));
  run.say('confirm');
  const { signAndSendTransaction } = Object(run.wallet.features['solana:signAndSendTransaction']);
  // What was sent is sent, whether somebody still waits or not.
  const sent: unknown = await signAndSendTransaction({ account, chain, transaction });
  if (!Array.isArray(sent) || Object(sent[0]).signature === undefined) throw new Halt('differs');
}

async function signText(run: SolanaRun, account: Account, text: string): Promise<string> {
  const { signMessage } = Object(run.wallet.features['solana:signMessage']);
  if (typeof signMessage !== 'function') throw new Halt('not_signed');
  const signed: unknown = await signMessage({ account, message: new TextEncoder().encode(text) });
  const { signature } = Object(Array.isArray(signed) ? signed[0] : undefined);
  return hexOf(Uint8Array.from(signature ?? []));
}

/** The page itself notices the payment: these wallets answer no questions about the network. */
async function untilSeen(run: SolanaRun): Promise<void> {
  const until = performance.now() + SEEN_WITHIN_MS;
  while (run.isOpen() && run.isAsked() && performance.now() < until) await wait(POLL_EVERY_MS);
}

/** Pays from the wallet what the page shows, then asks it for the proof. What happens is said. Never throws. */
export async function payBySolana(run: SolanaRun): Promise<void> {
  let address = '';
  try {
    checkShown(run, true);
    const account = await connect(run);
    address = account.address;
    await send(run, account);
    run.say('sent');
    await Promise.all([untilSeen(run), prove(run, address, (text) => signText(run, account, text))]);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, address, COIN));
  }
}
