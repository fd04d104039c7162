import { Halt, isSame, Stopped, shorten, wait, wordsOf } from '../../checkout/wallet/payer-steps.ts';
import type { WalletSteps } from '../../checkout/wallet/run.ts';
import {
  ask,
  chooseChain,
  connect,
  lossOf,
  MISSED_MAX,
  POLL_EVERY_MS,
  reader,
  readOrSkip,
  wordOf,
} from '../../checkout/wallet/steps.ts';
import type {
  ApprovalStep,
  EthereumMandate,
  MandateOffer,
  MandateTerms,
  MandateWallet,
} from './mandate-run.ts';
import { endOf, hasTerms, readDocument } from './typed-terms.ts';

// Loaded when the payer chooses a wallet to be charged.

const APPROVE = '0x095ea7b3';
const ALLOWANCE = '0xdd62ed3e';
type Permit = Extract<ApprovalStep, { kind: 'permit' }>;

/** Whether what the wallet would sign is for this contract, chain, token and account, as offered. */
function isOffered(
  { wallets, contract, interval }: Pick<EthereumMandate, 'wallets' | 'contract' | 'interval'>,
  account: string,
  offer: MandateOffer,
): boolean {
  const { spender: collector, chain } = wallets;
  const [approve] = offer.steps;
  return (
    isSame(approve.spender, collector) &&
    isSame(offer.wallet, account) &&
    hasTerms({ chainId: chain.id, collector, contract, payer: account }, interval, offer) &&
    BigInt(approve.amount) >= BigInt(offer.cap) &&
    (approve.kind === 'approve' ||
      isSameApproval(approve, account, readDocument(approve.typed_data, 'Permit', chain.id, contract)))
  );
}

const isSameApproval = (
  { spender, amount, nonce, deadline }: Permit,
  account: string,
  message: Record<string, unknown>,
) =>
  isSame(message.owner, account) &&
  isSame(message.spender, spender) &&
  String(message.value) === amount &&
  String(message.nonce) === nonce &&
  Number(message.deadline) === deadline;

async function readTerms(run: EthereumMandate): Promise<MandateTerms | undefined> {
  let account = '';
  try {
    account = await connect(run);
    await chooseChain(run);
    const offer = await run.offer(account);
    if (typeof offer === 'string') throw new Halt(offer);
    if (!isOffered(run, account, offer)) throw new Halt('terms_differ');
    return { account, offer, endsAt: endOf(offer) };
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, 'ETH'));
    return undefined;
  }
}

/** Makes the wallet's approval what it has to be; USDT goes from one to another by way of 0. */
async function approve(run: EthereumMandate, { account, offer }: MandateTerms): Promise<void> {
  const [{ spender, amount }] = offer.steps;
  const { contract: to } = run;
  const wanted = BigInt(amount);
  const query = { to, data: ALLOWANCE + wordOf(account) + wordOf(spender) };
  const allowance = () => readOrSkip(run, 'eth_call', [query, 'latest']);
  const set = async (units: bigint) => {
    const count = await readOrSkip(run, 'eth_getTransactionCount', [account, 'latest']);
    const data = APPROVE + wordOf(spender) + wordOf(units.toString(16));
    const chainId = `0x${run.chain.id.toString(16)}`;
    const hash = await ask(run, 'eth_sendTransaction', [{ from: account, to, data, value: '0x0', chainId }]);
    run.onSent({ account, hash: String(hash), amount });
    run.say('approved_wait');
    await waitFor(run, { hash: String(hash), account, count }, () => isSet(units));
  };
  const isSet = async (units: bigint) => {
    const now = await allowance();
    return now !== null && (units === 0n ? now === 0n : now >= units);
  };
  if (await isSet(wanted)) return;
  // One that this page has sent before it was loaded again may be on its way.
  const sent = run.readSent();
  if (sent !== null && isSame(sent.account, account) && (await isPending(run, sent.hash))) {
    run.say('approved_wait');
    await waitFor(run, { ...sent, count: null }, () => isSet(wanted)).catch((error) => {
      if (!(error instanceof Halt)) throw error;
    });
  }
  const known = (await allowance()) ?? 0n;
  if (known >= wanted) return;
  if (known > 0n && run.token === 'USDT') {
    run.say('clearing');
    await set(0n);
  }
  run.say('approving');
  await set(wanted);
}

async function isPending(run: WalletSteps, hash: string): Promise<boolean> {
  const found = await reader(run)('eth_getTransactionByHash', hash);
  return found != null && Object(found).blockNumber == null;
}

/** By this transaction, or by the one that the payer has put in its place. */
async function waitFor(
  run: WalletSteps,
  sent: Parameters<typeof lossOf>[1],
  isSet: () => Promise<boolean>,
): Promise<void> {
  const read = reader(run);
  for (let missed = 0; !(await isSet()); ) {
    const { status } = Object(await read('eth_getTransactionReceipt', sent.hash));
    if (status === '0x0') throw new Halt('failed');
    if (status === '0x1') {
      // Its block may have come between both reads, or be new to the node that answered the first one.
      if (await isSet()) return;
      await wait(POLL_EVERY_MS);
      if (await isSet()) return;
      // Another approval of fewer coins counts as little as one that failed.
      throw new Halt('no_approval');
    }
    missed = (await read('eth_getTransactionByHash', sent.hash)) === null ? missed + 1 : 0;
    if (missed >= MISSED_MAX) throw new Halt(await lossOf(run, sent));
    await wait(POLL_EVERY_MS);
  }
}

async function give(run: EthereumMandate, terms: MandateTerms): Promise<boolean> {
  const { account, offer } = terms;
  try {
    const accounts = await ask(run, 'eth_accounts');
    if (!Array.isArray(accounts) || !accounts.some((one) => isSame(one, account)))
      throw new Halt('wrong_account', { account: shorten(account) });
    await chooseChain(run);
    if (!run.isShown(terms)) {
      run.onTampered();
      return false;
    }
    const [approval, activate] = offer.steps;
    const sign = async (text: string) => String(await ask(run, 'eth_signTypedData_v4', [account, text]));
    let permit: string | null = null;
    if (approval.kind === 'permit') {
      run.say('permitting');
      permit = await sign(approval.typed_data);
    } else await approve(run, terms);
    run.say('signing');
    const refusal = await run.sign(offer, await sign(activate.typed_data ?? ''), permit);
    if (refusal !== null) throw new Halt(refusal);
    run.say('handed');
    return true;
  } catch (error) {
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, 'ETH'));
    return false;
  }
}

export const ethereumMandate = (run: EthereumMandate): MandateWallet => ({
  readTerms: () => readTerms(run),
  give: (terms) => give(run, terms),
});
