import {
  checkShown,
  Halt,
  prove,
  readTransaction,
  Stopped,
  unitsOf,
  untilSeen,
  wordsOf,
} from './payer-steps.ts';
import type { SolanaRun } from './run.ts';
import { paysDue } from './solana-transaction.ts';
import { type Account, bytesOf, canSign, connect, signAndSend, signText } from './standard-steps.ts';

// Loaded when the payer chooses a wallet of Solana.

const COIN = 'SOL';
/** Some longer than its transactions are good. */
const SEEN_WITHIN_MS = 120_000;

async function send(run: SolanaRun, account: Account): Promise<void> {
  const transaction = bytesOf(await readTransaction(run, account.address));
  const { contract: mint } = run.due.wallet;
  const units = unitsOf(run.due.amount);
  checkShown(run, paysDue(transaction, { from: account.address, to: run.due.address, mint, units }));
  run.say('confirm');
  await signAndSend(run, account, transaction);
}

async function sign(run: SolanaRun, account: Account, text: string): Promise<string> {
  if (!canSign(run)) throw new Halt('not_signed');
  return await signText(run, account, text);
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
    void prove(run, address, (text) => sign(run, account, text));
    await untilSeen(run, SEEN_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, address, COIN));
  }
}
