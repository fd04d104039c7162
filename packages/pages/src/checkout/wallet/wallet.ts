import {
  checkShown,
  decimalOf,
  Halt,
  hexOf,
  isSame,
  prove,
  Stopped,
  shorten,
  unitsOf,
  wait,
  wordsOf,
} from './payer-steps.ts';
import type { WalletRun } from './run.ts';
import {
  ask,
  chooseChain,
  connect,
  lossOf,
  MISSED_MAX,
  POLL_EVERY_MS,
  reader,
  readOrSkip,
  type Sent,
  wordOf,
} from './steps.ts';

// Loaded when the payer chooses a wallet. It imports nothing that the page has loaded, so that it is a file of its own.

const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';
const HASH = /^0x[0-9a-f]{64}$/i;

/** Of the fees of the network. */
const COIN = 'ETH';

/** Whether the server's call pays what the page shows, to whom it shows: nothing else goes to a wallet. */
const isRight = ({ chain, call, due }: WalletRun): boolean =>
  chain.id === due.wallet.chainId &&
  isSame(call.to, due.wallet.contract) &&
  call.data === TRANSFER + wordOf(due.address) + wordOf(unitsOf(due.amount).toString(16));

async function checkFunds(run: WalletRun, transaction: { from: string; to: string; data: string }) {
  const { due } = run;
  const account = shorten(transaction.from);
  const query = { to: transaction.to, data: BALANCE_OF + wordOf(transaction.from) };
  const tokens = await readOrSkip(run, 'eth_call', [query, 'latest']);
  if (tokens !== null && tokens < unitsOf(due.amount)) {
    const balance = `${decimalOf(tokens)}\u00a0${due.token}`;
    throw new Halt('no_token', { account, balance, amount: `${due.amount}\u00a0${due.token}` });
  }
  const ether = await readOrSkip(run, 'eth_getBalance', [transaction.from, 'latest']);
  const gas = await readOrSkip(run, 'eth_estimateGas', [transaction]);
  const price = await readOrSkip(run, 'eth_gasPrice', []);
  if (ether === null || ether >= (gas ?? 0n) * (price ?? 0n)) return;
  // An account with code may have others pay its fees; one without has none.
  const code = await readOrSkip(run, 'eth_getCode', [transaction.from, 'latest']);
  if (code === null || code === 0n) throw new Halt('no_gas', { account, coin: COIN });
}

async function send(run: WalletRun, account: string): Promise<Sent> {
  const { call, chain } = run;
  const transaction = { from: account, to: call.to, data: call.data, value: '0x0' };
  await checkFunds(run, transaction);
  const count = await readOrSkip(run, 'eth_getTransactionCount', [account, 'latest']);
  const accounts = await ask(run, 'eth_accounts');
  if (!Array.isArray(accounts) || !accounts.some((one) => isSame(one, account)))
    throw new Halt('wrong_account', { account: shorten(account) });
  checkShown(run, isRight(run));
  run.say('confirm');
  // Not by `ask`: what was sent is sent, whether somebody still waits or not.
  const params = [{ ...transaction, chainId: `0x${chain.id.toString(16)}` }];
  const hash = await run.provider.request({ method: 'eth_sendTransaction', params });
  if (typeof hash !== 'string' || !HASH.test(hash)) throw new Halt('differs');
  return { hash, account, count };
}

/** Whether the transaction is the one that was asked for. What a contract wallet sends looks otherwise. */
async function isAskedFor(run: WalletRun, account: string, found: unknown): Promise<boolean> {
  const { call } = run;
  const { from, to, input } = Object(found);
  if (isSame(from, account) && isSame(to, call.to) && isSame(input, call.data)) return true;
  const code = await reader(run)('eth_getCode', account, 'latest');
  return typeof code === 'string' && code.length > 2;
}

/** Says what becomes of the transaction, until the page itself has seen it. */
async function watch(run: WalletRun, sent: Sent): Promise<void> {
  const read = reader(run);
  let missed = 0;
  let isIncluded = false;
  while (run.isOpen() && (!isIncluded || run.isAsked())) {
    const found = await read('eth_getTransactionByHash', sent.hash);
    if (found === null) {
      missed++;
      if (missed >= MISSED_MAX) throw new Halt(await lossOf(run, sent));
    } else if (found !== undefined && !isIncluded) {
      missed = 0;
      if (!(await isAskedFor(run, sent.account, found))) throw new Halt('differs');
      const { blockNumber } = Object(found);
      const receipt = blockNumber == null ? null : await read('eth_getTransactionReceipt', sent.hash);
      const { status } = Object(receipt);
      if (status === '0x0') throw new Halt('failed');
      isIncluded = status === '0x1';
      if (isIncluded) run.say('included');
    }
    await wait(POLL_EVERY_MS);
  }
}

async function signText(run: WalletRun, account: string, text: string): Promise<string> {
  const params = [hexOf(new TextEncoder().encode(text)), account];
  return String(await run.provider.request({ method: 'personal_sign', params }));
}

/** Pays from the wallet what the page shows, then asks it for the proof. What happens is said. Never throws. */
export async function payByWallet(run: WalletRun): Promise<void> {
  let account = '';
  try {
    checkShown(run, isRight(run));
    account = await connect(run);
    await chooseChain(run);
    const sent = await send(run, account);
    run.say('sent');
    await Promise.all([watch(run, sent), prove(run, account, (text) => signText(run, account, text))]);
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, COIN));
  }
}
