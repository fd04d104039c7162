import {
  checkShown,
  Halt,
  prove,
  readTransaction,
  Stopped,
  shorten,
  unitsOf,
  untilSeen,
  wait,
  wordsOf,
} from './payer-steps.ts';
import type { TronRun } from './run.ts';
import { dueTransaction } from './tron-transaction.ts';

// Loaded when the payer chooses a wallet of Tron.

const COIN = 'TRX';
/** As long as its transactions are good. */
const SEEN_WITHIN_MS = 300_000;
/** A wallet puts its account into the page a moment after it has agreed. */
const ACCOUNT_TRIES = 30;
const ACCOUNT_EVERY_MS = 100;
const CHAIN_DIGITS = 8;

/** The library that the wallet puts into the page, and the account that it uses now. */
const libraryOf = ({ provider }: TronRun) => Object(provider.tronWeb);
const accountOf = (run: TronRun): unknown => libraryOf(run).defaultAddress?.base58;

/** Newer wallets answer as on Ethereum, older ones have a call of their own, whose answer has a code. */
async function connect(run: TronRun): Promise<string> {
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
async function checkChain(run: TronRun): Promise<void> {
  const { chainId: id } = run.due.wallet;
  const first: unknown = await Promise.resolve(libraryOf(run).trx?.getBlockByNumber?.(0)).catch(
    () => undefined,
  );
  const { blockID } = Object(first);
  if (run.isStopped()) throw new Stopped();
  if (typeof blockID !== 'string' || Number.parseInt(blockID.slice(-CHAIN_DIGITS), 16) === id) return;
  throw new Halt('wrong_network', { network: run.due.networkName, id });
}

async function send(run: TronRun, account: string): Promise<void> {
  const { address: to, amount } = run.due;
  const payment = { from: account, to, token: run.due.wallet.contract, units: unitsOf(amount) };
  const transaction = await dueTransaction(JSON.parse(await readTransaction(run, account)), payment);
  checkShown(run, transaction !== undefined);
  if (transaction === undefined) throw new Stopped();
  if (accountOf(run) !== account) throw new Halt('wrong_account', { account: shorten(account) });
  run.say('confirm');
  const { trx } = libraryOf(run);
  const { txID, raw_data_hex: hex } = transaction;
  const signed = await trx.sign(transaction);
  const { txID: signedId, raw_data_hex: signedHex } = Object(signed);
  if (signedId !== txID || signedHex !== hex) throw new Halt('differs');
  // What was signed is not sent yet: whoever stopped, or paid otherwise meanwhile, does not pay twice.
  if (run.isStopped()) throw new Stopped();
  if (!run.isAsked()) throw new Halt('changed');
  // Where no answer comes it may have been sent.
  const answer = await Promise.resolve(trx.sendRawTransaction(signed)).catch(() => {
    throw new Halt('gone');
  });
  const { result, code } = Object(answer);
  if (result !== true && code !== 'DUP_TRANSACTION_ERROR')
    throw new Error(String(code ?? 'the network has refused the transaction'));
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
    await untilSeen(run, SEEN_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, COIN));
  }
}
