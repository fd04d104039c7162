import {
  checkShown,
  Halt,
  prove,
  readTransaction,
  Stopped,
  shorten,
  unitsOf,
  untilSeen,
  wordsOf,
} from './payer-steps.ts';
import type { TronRun } from './run.ts';
import { paysDueOnTron } from './tron-transaction.ts';

// Loaded when the payer chooses a wallet of Tron.

const COIN = 'TRX';

async function ask(run: TronRun, method: string): Promise<unknown> {
  const answer = await run.provider.request({ method });
  if (run.isStopped()) throw new Stopped();
  return answer;
}

/** The library that the wallet puts into the page, and the account that it uses now. */
const libraryOf = ({ provider }: TronRun) => Object(provider.tronWeb);
const accountOf = (run: TronRun): unknown => libraryOf(run).defaultAddress?.base58;

/** Newer wallets answer as on Ethereum, older ones have a call of their own, whose answer has a code. */
async function connect(run: TronRun): Promise<string> {
  run.say('connecting');
  const { code } = Object(await ask(run, run.isOld ? 'tron_requestAccounts' : 'eth_requestAccounts'));
  if (code === 4000) throw new Halt('busy');
  const account = accountOf(run);
  if (code === 4001 || typeof account !== 'string') throw new Halt('refused');
  return account;
}

/** An older wallet does not say where it is: on another network its transaction refers to a block that is not there. */
async function checkChain(run: TronRun): Promise<void> {
  const { chainId: id } = run.due.wallet;
  if (run.isOld || Number(await ask(run, 'eth_chainId')) === id) return;
  throw new Halt('wrong_network', { network: run.due.networkName, id });
}

async function send(run: TronRun, account: string): Promise<void> {
  const { address: to, amount } = run.due;
  const transaction: unknown = JSON.parse(await readTransaction(run, account));
  const { contract: token } = run.due.wallet;
  checkShown(run, paysDueOnTron(transaction, { from: account, to, token, units: unitsOf(amount) }));
  if (accountOf(run) !== account) throw new Halt('wrong_account', { account: shorten(account) });
  run.say('confirm');
  const { trx } = libraryOf(run);
  // What is signed is sent, whether somebody still waits or not: the payer has confirmed it.
  const signed = await trx.sign(transaction);
  if (Object(signed).txID !== Object(transaction).txID) throw new Halt('differs');
  const { result, code } = Object(await trx.sendRawTransaction(signed));
  if (result !== true) throw new Error(String(code ?? 'the network has refused the transaction'));
}

/** Pays from the wallet what the page shows, then asks it for the proof. What happens is said. Never throws. */
export async function payByTron(run: TronRun): Promise<void> {
  let account = '';
  try {
    checkShown(run, true);
    account = await connect(run);
    await checkChain(run);
    await send(run, account);
    run.say('sent');
    const sign = async (text: string) => String(await libraryOf(run).trx.signMessageV2(text));
    // A wallet that never answers this keeps nobody from paying again.
    void prove(run, account, sign);
    await untilSeen(run);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, COIN));
  }
}
