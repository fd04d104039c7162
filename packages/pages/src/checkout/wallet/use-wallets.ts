import { useEffect, useRef, useState } from 'preact/hooks';
import { type Translate, translator } from '../../texts.ts';
import type { CheckoutView, DueWallet, PageDue } from '../../views/checkout.ts';
import type { ProofOutcome, WalletOrder, WalletText, WalletTransfer } from '../../views/wallet.ts';
import { callOf, postForm } from '../live.ts';
import { type FoundWallet, useFoundWallets } from './found-wallets.ts';
import type { PageRun, WalletDue, WalletWord } from './run.ts';
import { dropSent, keepSent, readSent, type SentNote } from './sent-note.ts';

/** What is said while a wallet pays. */
export interface WalletStatus {
  payment: { word: WalletWord; text: string };
  proof: { word: WalletWord; text: string } | null;
  /** Of the button that ends the waiting, and what is said then. */
  stopText: string;
  goneText: string;
}

export interface PageWallets {
  found: readonly FoundWallet[];
  /** This browser has none: other ways are shown. */
  isAlone: boolean;
  status: WalletStatus | null;
  /** A wallet pays: no other payment begins. */
  isBusy: boolean;
  pay: (wallet: FoundWallet) => void;
  /** Ends the waiting for an answer of the wallet. */
  stop: () => void;
}

const nothing = () => {};
/** As the server renders the page. */
export const NO_WALLETS: PageWallets = {
  found: [],
  isAlone: false,
  status: null,
  isBusy: false,
  pay: nothing,
  stop: nothing,
};

const isPayable = (due: PageDue | null): due is WalletDue => due !== null && due.wallet !== null;

/**
 * Of this tab, what holds a lock: who waits no longer for an answer may try again here, and in no other tab while one of the
 * answers may still come.
 */
const held = new Map<string, Set<Promise<void>>>();

/** One payment at a time in all tabs of this page; browsers without locks have none. */
async function whileLocked(name: string, work: (isLocked: boolean) => Promise<void>): Promise<void> {
  if (!('locks' in navigator)) return await work(true);
  const shared = held.get(name);
  if (shared !== undefined) {
    const turn = work(true);
    shared.add(turn);
    return await turn;
  }
  await new Promise<void>((resolve, reject) => {
    const whole = navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      const turn = work(lock !== null);
      turn.then(resolve, reject);
      if (lock === null) return;
      const turns = new Set([turn]);
      held.set(name, turns);
      await untilEmpty(turns);
      held.delete(name);
    });
    whole.catch(reject);
  });
}

/** Others may join while it waits. */
async function untilEmpty(turns: Set<Promise<void>>): Promise<void> {
  while (turns.size > 0) {
    const present = [...turns];
    await Promise.allSettled(present);
    for (const turn of present) turns.delete(turn);
  }
}

const textOf = (kind: string) => document.querySelector(`[data-exact=${kind}]`)?.textContent ?? null;

interface Options {
  view: CheckoutView;
  /** The payer chooses another way, so that the page shows no address. */
  isChoosing: boolean;
  token: string;
  /** Said aloud. */
  announce: (text: string) => void;
  onTampered: () => void;
  /** The server has another amount by now. */
  poll: () => Promise<void>;
  onBegin: () => void;
  onFailure: (error: unknown) => void;
}

/** The wallet waits for the payer. */
export const ASKING = new Set<WalletWord>(['connecting', 'switching', 'confirm']);

/** Once the page has seen a payment it says itself how that is; a wallet that has sent something else counts always. */
export const isTold = (state: CheckoutView['state'], word: WalletWord): boolean =>
  state === 'pay' || word === 'differs';

/** Nothing waits any more. */
const SENT_BEFORE = { proof: null, stopText: '', goneText: '' };
/** A payment may have been sent. */
const KEPT = new Set<WalletWord>(['sent', 'gone', 'unseen']);
const LOST = new Set<WalletWord>(['dropped', 'replaced', 'failed', 'differs']);

/** The status after a step of the payment or of the proof. No proof is requested after a payment that differs. */
function nextStatus(
  known: WalletStatus | null,
  part: 'payment' | 'proof',
  next: WalletStatus,
): WalletStatus | null {
  if (part === 'payment')
    return next.payment.word === 'differs' ? next : { ...next, proof: known?.proof ?? null };
  return known?.payment.word === 'differs' ? known : known && { ...known, proof: next.payment };
}

/** One payment by a wallet, and whether somebody still waits for it. */
interface Turn {
  isStopped: boolean;
}

/** What a payment by a wallet does to the page, and reads of it. */
interface PagePart extends Pick<Options, 'token' | 'onTampered' | 'poll'> {
  latest: { readonly current: CheckoutView };
  isShowing: () => boolean;
  /** Shows that something was sent already. @returns whether the payer did not click once more after that */
  isWarned: (note: SentNote | null) => boolean;
  /** Shows and says a text, of the payment or of its proof. */
  tell: (part: 'payment' | 'proof', t: Translate<'wallet'>, ...said: Parameters<PageRun['say']>) => void;
}

const isOf = <K extends DueWallet['kind']>(kind: K, due: WalletDue): due is WalletDue<K> =>
  due.wallet.kind === kind;

/** Asks the server what the wallet shall do, loads the wallet's code, and pays. */
async function begin(wallet: FoundWallet, due: WalletDue, turn: Turn, page: PagePart): Promise<void> {
  const { token, latest, isShowing, tell, onTampered, poll } = page;
  const { address, amount } = due;
  const { language } = latest.current;
  const call = <T>(name: string, fields: Record<string, string>) =>
    postForm<T>(callOf(token, name, language), fields);
  const asked = { address, amount };
  const order = await call<WalletOrder>('wallet', asked);
  if ('isChanged' in order) return await poll();
  const t = translator(order.texts, language);
  const run: PageRun = {
    due,
    readShown: () => ({ address: textOf('address'), amount: textOf('amount') }),
    isPaying: isShowing,
    isAsked: () => latest.current.due?.address === address && latest.current.due.amount === amount,
    isOpen: () => latest.current.state === 'pay' && latest.current.due?.address === address,
    isStopped: () => turn.isStopped,
    say: (word, values) => tell('payment', t, word, values),
    sayOfProof: (word) => tell('proof', t, word),
    onTampered,
    readText: (account) => call<WalletText>('wallet-text', { account, network: due.network }),
    prove: async (token, signature) =>
      (await call<{ outcome: ProofOutcome }>('wallet-proof', { token, signature })).outcome,
  };
  await whileLocked(`florin ${address}`, async (isLocked) => {
    if (!isLocked) return run.say('other_tab');
    if (page.isWarned(readSent(address))) return;
    const readTransfer = (account: string) => call<WalletTransfer>('wallet-transfer', { ...asked, account });
    if (wallet.kind === 'solana' && isOf('solana', due)) {
      const { payBySolana } = await import('./solana.ts');
      await payBySolana({ ...run, due, wallet: wallet.wallet, chain: due.wallet.chain, readTransfer });
    } else if (wallet.kind === 'tron' && isOf('tron', due)) {
      const { payByTron } = await import('./tron.ts');
      const { provider, isOld } = wallet;
      await payByTron({ ...run, due, provider, isOld, readTransfer });
    } else if (wallet.kind === 'ethereum' && isOf('ethereum', due) && order.kind === 'ethereum') {
      const { payByWallet } = await import('./wallet.ts');
      const { chain, call } = order;
      await payByWallet({ ...run, due, provider: wallet.provider, chain, call });
    }
  });
}

/** What a wallet has sent a short while ago is told when the page loads, and once more before another payment. */
function useSentWarning(
  latest: PagePart['latest'],
  setStatus: (status: WalletStatus) => void,
  announce: Options['announce'],
): PagePart['isWarned'] {
  const warnedOf = useRef(0);
  const show = ({ text }: SentNote) => setStatus({ ...SENT_BEFORE, payment: { word: 'sent', text } });
  useEffect(() => {
    const { due } = latest.current;
    const note = due === null ? null : readSent(due.address);
    if (note !== null) show(note);
  }, []);
  return (note) => {
    if (note === null || note.atMs === warnedOf.current) return false;
    warnedOf.current = note.atMs;
    show(note);
    announce(note.text);
    return true;
  };
}

/** The wallets of this browser, and the payment that one of them makes. */
export function useWallets({
  view,
  isChoosing,
  announce,
  onBegin,
  onFailure,
  ...page
}: Options): PageWallets {
  const latest = useRef(view);
  latest.current = view;
  const isShowing = useRef(true);
  isShowing.current = view.state === 'pay' && !isChoosing;
  const { wallets: found, isAlone } = useFoundWallets(view.due?.wallet ?? null);
  const [status, setStatus] = useState<WalletStatus | null>(null);
  const [isBusy, setBusy] = useState(false);
  const current = useRef<Turn | null>(null);

  const isWarned = useSentWarning(latest, setStatus, announce);
  const pay = (wallet: FoundWallet) => {
    const { due } = latest.current;
    if (!isPayable(due) || isBusy) return;
    const turn: Turn = { isStopped: false };
    current.current = turn;
    setBusy(true);
    setStatus(null);
    onBegin();
    const tell: PagePart['tell'] = (part, t, word, values) => {
      // A wallet that answers when nobody waits any more has sent all the same.
      if (turn.isStopped && word === 'sent') {
        if (current.current !== null) current.current.isStopped = true;
        current.current = turn;
        turn.isStopped = false;
        setBusy(true);
      }
      if (turn.isStopped) return;
      const said = { word, text: t(word, { wallet: wallet.name, ...values }) };
      const fixed = { stopText: t('stop'), goneText: t('gone', { wallet: wallet.name }) };
      setStatus((known) => nextStatus(known, part, { ...fixed, payment: said, proof: null }));
      if (part === 'payment' && KEPT.has(word)) keepSent(due.address, said.text);
      if (LOST.has(word)) dropSent(due.address);
      if (part === 'proof' || isTold(latest.current.state, word)) announce(said.text);
    };
    begin(wallet, due, turn, { ...page, latest, isShowing: () => isShowing.current, isWarned, tell })
      .catch(onFailure)
      .finally(() => {
        if (current.current !== turn) return;
        setBusy(false);
        setStatus((known) => (known !== null && ASKING.has(known.payment.word) ? null : known));
      });
  };
  const stop = () => {
    if (current.current !== null) current.current.isStopped = true;
    setBusy(false);
    setStatus((known) => {
      if (known?.payment.word !== 'confirm') return null;
      return { ...known, payment: { word: 'gone', text: known.goneText } };
    });
  };
  return { found, isAlone, status, isBusy, pay, stop };
}
