import { checkShown, prove, readTransaction, Stopped, unitsOf, untilSeen, wordsOf } from './payer-steps.ts';
import type { TronRun } from './run.ts';
import { checkAccount, checkChain, connect, libraryOf, signAndSend } from './tron-steps.ts';
import { dueTransaction } from './tron-transaction.ts';

// Loaded when the payer chooses a wallet of Tron.

const COIN = 'TRX';
/** As long as its transactions are good. */
const SEEN_WITHIN_MS = 300_000;

async function send(run: TronRun, account: string): Promise<void> {
  const { address: to, amount } = run.due;
  const payment = { from: account, to, token: run.due.wallet.contract, units: unitsOf(amount) };
  const transaction = await dueTransaction(JSON.parse(await readTransaction(run, account)), payment);
  checkShown(run, transaction !== undefined);
  if (transaction === undefined) throw new Stopped();
  checkAccount(run, account);
  run.say('confirm');
  // Whoever has paid otherwise meanwhile does not pay twice.
  await signAndSend(run, transaction, run.isAsked);
}

/** Pays from the wallet what the page shows, then asks it for the proof. What happens is said. Never throws. */
export async function payByTron(run: TronRun): Promise<void> {
  let account = '';
  try {
    checkShown(run, true);
    account = await connect(run);
    await checkChain(run, { id: run.due.wallet.chainId, name: run.due.networkName });
    await send(run, account);
    run.say('sent');
    const sign = async (text: string) => String(await libraryOf(run).trx.signMessageV2(text));
    // A wallet that never answers this keeps nobody from paying again.
    void prove(run, account, sign);
    await untilSeen(run, SEEN_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, COIN));
  }
}
