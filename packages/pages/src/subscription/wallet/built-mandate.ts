import { feeWord, Halt, Stopped, shorten, wait, wordsOf } from '../../checkout/wallet/payer-steps.ts';
import type { WalletWord } from '../../checkout/wallet/run.ts';
import type {
  BuiltApproval,
  MandateOffer,
  MandateTerms,
  MandateWallet,
  SolanaMandate,
  TronMandate,
} from './mandate-run.ts';

// What wallets of Solana and Tron have in common that are charged: they sign whole transactions, which the server builds.

const POLL_EVERY_MS = 2_000;

/** What a kind of wallet does in its own way. `account`: what it has connected with. */
interface Wallet<A> {
  /** Of the network's fees. */
  coin: string;
  /** As long as its transactions are good, or some longer. */
  approvedWithinMs: number;
  /** One approval serves all mandates of the wallet, so one that exists before we asked belongs to another mandate. */
  isForAll: boolean;
  connect: () => Promise<A>;
  addressOf: (account: A) => string;
  /** Whether the terms are for this page, network, token and account, as offered. */
  isOffered: (account: string, offer: MandateOffer) => boolean;
  endOf: (offer: MandateOffer) => number;
  /** In hex. */
  sign: (account: A, offer: MandateOffer) => Promise<string>;
  /** @returns what the network knows the transaction by; undefined: it is another one, and was not sent */
  approve: (account: A, transaction: string, units: bigint) => Promise<string | undefined>;
}

/** A mandate that is being given. */
interface Turn<A> {
  run: SolanaMandate | TronMandate;
  wallet: Wallet<A>;
  /** Empty until the wallet has named it. */
  account: string;
  /** Amounts whose approval was sent. None is requested twice, because the server's answer may be older than the approval. */
  sent: Set<string>;
  /** Unix milliseconds: until then what was sent may be in a block. */
  until: number;
  /** The wallet may have sent an approval, whatever it has answered. */
  isAsked: boolean;
  /** Of the terms, which are the same at each try. */
  signature: string | null;
}

/** A mandate of such a wallet: first its terms, then the signature, and the approval last, as it alone costs something. */
export function builtMandate<A>(run: SolanaMandate | TronMandate, wallet: Wallet<A>): MandateWallet {
  const turn: Turn<A> = {
    run,
    wallet,
    account: '',
    sent: new Set(),
    until: 0,
    isAsked: false,
    signature: null,
  };
  return {
    readTerms: () => saying(turn, () => readTerms(turn)),
    give: async (terms) => (await saying(turn, () => give(turn, terms))) === true,
  };
}

async function saying<A, T>(turn: Turn<A>, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const { run, wallet, account } = turn;
    if (!(error instanceof Stopped)) run.say(...wordsOf(error, account, wallet.coin));
    return undefined;
  }
}

/** What the server has answered, while somebody waits for it. @throws Halt where it is a word */
function assertGood<A, T extends object>(
  { run, wallet, account }: Turn<A>,
  answer: T | WalletWord,
): asserts answer is T {
  if (run.isStopped()) throw new Stopped();
  if (typeof answer !== 'string') return;
  const { coin } = wallet;
  const word = answer === 'no_gas' ? feeWord(coin) : answer;
  throw new Halt(word, { account: shorten(account), coin, token: run.token });
}

async function readTerms<A>(turn: Turn<A>): Promise<MandateTerms> {
  const { run, wallet } = turn;
  const account = wallet.addressOf(await wallet.connect());
  turn.account = account;
  const offer = await run.offer(account);
  assertGood<A, MandateOffer>(turn, offer);
  const sent = run.readSent();
  // What this page had approved before it was loaded again is not approved once more.
  if (sent?.account === account) {
    offer.steps[0].amount = sent.amount;
    const until = sent.atMs + wallet.approvedWithinMs;
    turn.isAsked = true;
    if (Date.now() < until) Object.assign(turn, { sent: new Set([sent.amount]), until });
  }
  if (!wallet.isOffered(account, offer)) throw new Halt('terms_differ');
  return { account, offer, endsAt: wallet.endOf(offer) };
}

/**
 * What is still to be approved. Once something was sent, failures of the server are ignored, and so are refusals once the whole amount
 * was sent.
 *
 * @returns undefined: it is not known
 */
async function readMissing<A>(turn: Turn<A>, { offer }: MandateTerms): Promise<BuiltApproval | undefined> {
  const { run, account, sent } = turn;
  const answer = await run.approval(account, offer).catch((error) => {
    if (sent.size === 0) throw error;
    return undefined;
  });
  if (run.isStopped()) throw new Stopped();
  const isOnItsWay = sent.has(offer.steps[0].amount);
  if (answer === undefined || (typeof answer === 'string' && isOnItsWay)) return undefined;
  assertGood<A, BuiltApproval>(turn, answer);
  return answer;
}

/** Until the server sees that the wallet allows as much: one amount after the other, where the token wants 0 between them. */
async function approve<A>(turn: Turn<A>, connected: A, terms: MandateTerms): Promise<void> {
  const { run, wallet, account, sent } = turn;
  const { amount } = terms.offer.steps[0];
  for (;;) {
    const next = await readMissing(turn, terms);
    if (next?.transaction === null) {
      if (wallet.isForAll && !turn.isAsked) throw new Halt('terms_changed');
      return;
    }
    // 0 is approved at most once, and only before the amount.
    if (next !== undefined && !sent.has(next.amount) && !sent.has(amount)) {
      if (next.amount !== amount && next.amount !== '0') throw new Halt('terms_differ');
      run.say(next.amount === '0' ? 'clearing' : 'approving');
      turn.isAsked = true;
      const hash = await wallet.approve(connected, next.transaction, BigInt(next.amount));
      if (hash === undefined) throw new Halt('terms_differ');
      if (next.amount !== '0') run.onSent({ account, hash, amount });
      sent.add(next.amount);
      turn.until = Date.now() + wallet.approvedWithinMs;
    }
    if (Date.now() > turn.until) {
      sent.clear();
      throw new Halt('no_approval');
    }
    run.say('approved_wait');
    await wait(POLL_EVERY_MS);
  }
}

async function give<A>(turn: Turn<A>, terms: MandateTerms): Promise<boolean> {
  const { run, wallet } = turn;
  const { account, offer } = terms;
  const connected = await wallet.connect();
  if (wallet.addressOf(connected) !== account) throw new Halt('wrong_account', { account: shorten(account) });
  turn.account = account;
  if (!run.isShown(terms)) {
    run.onTampered();
    return false;
  }
  if (turn.signature === null) {
    run.say('signing');
    turn.signature = await wallet.sign(connected, offer);
  }
  if (run.isStopped()) throw new Stopped();
  await approve(turn, connected, terms);
  const refusal = await run.sign(offer, turn.signature, null);
  if (refusal === 'sign_refused') turn.signature = null;
  if (refusal !== null) throw new Halt(refusal);
  run.say('handed');
  return true;
}
