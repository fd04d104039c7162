import {
  checkShown,
  Halt,
  hexOf,
  prove,
  readTransaction,
  Stopped,
  unitsOf,
  untilSeen,
  wordsOf,
} from './payer-steps.ts';
import type { SolanaRun } from './run.ts';
import { paysDue } from './solana-transaction.ts';

// Loaded when the payer chooses a wallet of Solana.

const COIN = 'SOL';
/** Some longer than its transactions are good. */
const SEEN_WITHIN_MS = 120_000;

interface Account {
  readonly address: string;
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

async function connect(run: SolanaRun): Promise<Account> {
  run.say('connecting');
  const { accounts } = Object(await Object(run.wallet.features['standard:connect']).connect());
  if (run.isStopped()) throw new Stopped();
  const all: readonly unknown[] = Array.isArray(accounts) ? accounts : [];
  const isOfChain = (one: unknown) => Object(one).chains?.includes?.(run.due.wallet.chain) === true;
  const account = all.find(isOfChain) ?? all[0];
  if (typeof Object(account).address !== 'string') throw new Halt('refused');
  return Object(account);
}

async function send(run: SolanaRun, account: Account): Promise<void> {
  const transaction = bytesOf(await readTransaction(run, account.address));
  const { chain, contract: mint } = run.due.wallet;
  const units = unitsOf(run.due.amount);
  checkShown(run, paysDue(transaction, { from: account.address, to: run.due.address, mint, units }));
  run.say('confirm');
  const { signAndSendTransaction } = Object(run.wallet.features['solana:signAndSendTransaction']);
  // The node that tries it first has to know a block that is not final yet. What was sent is sent, whether somebody still waits or not.
  const options = { preflightCommitment: 'confirmed' };
  await signAndSendTransaction({ account, chain, transaction, options });
}

async function signText(run: SolanaRun, account: Account, text: string): Promise<string> {
  const { signMessage } = Object(run.wallet.features['solana:signMessage']);
  if (typeof signMessage !== 'function') throw new Halt('not_signed');
  const signed: unknown = await signMessage({ account, message: new TextEncoder().encode(text) });
  const { signature } = Object(Array.isArray(signed) ? signed[0] : undefined);
  return hexOf(Uint8Array.from(signature ?? []));
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
    // A wallet that never answers this keeps nobody from paying again.
    void prove(run, address, (text) => signText(run, account, text));
    await untilSeen(run, SEEN_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, address, COIN));
  }
}
