import { useRef, useState } from 'preact/hooks';
import { FormRefused, postForm } from '../../checkout/live.ts';
import type { FoundWallet } from '../../checkout/wallet/found-wallets.ts';
import type { WalletValues, WalletWord } from '../../checkout/wallet/run.ts';
import { dropSent, keepSent, readSent } from '../../checkout/wallet/sent-note.ts';
import type { Translate } from '../../texts.ts';
import type { MandateWallets } from '../../views/wallet.ts';
import { dayText, tokensText } from '../../written.ts';
import type {
  MandateOffer,
  MandateRun,
  MandateTerms,
  MandateWallet,
  SentApproval,
  SolanaMandate,
} from './mandate-run.ts';
import type { WalletData } from './wallet-data.ts';

/** The server reads the approval from its own node, which may be a block behind the wallet's; on Solana from a final block. */
const TRIES = { ethereum: 6, tron: 30, solana: 30 } as const;
const TRY_EVERY_MS = 2_000;

/** By the field that the server refuses. */
const REFUSALS: Partial<Record<string, WalletWord>> = {
  signature: 'sign_refused',
  permit: 'permit_refused',
  permit_nonce: 'permit_stale',
  balance: 'no_funds',
  wallet: 'no_approval',
  cap: 'terms_changed',
  starts_at: 'terms_changed',
};

/** The same before anything is signed. */
const OFFER_REFUSALS: Partial<Record<string, WalletWord>> = {
  permit_nonce: 'permit_busy',
  balance: 'none_held',
  fee: 'no_gas',
  token: 'token_refuses',
};

/** The same before an approval is sent: the payer pays the network's fee for an approval, and shall not pay it in vain. */
const APPROVAL_REFUSALS: typeof REFUSALS = {
  ...OFFER_REFUSALS,
  account: 'none_held',
  balance: 'no_funds',
  cap: 'terms_changed',
};

const STALE = new Set<WalletWord>([
  'terms_changed',
  'terms_differ',
  'permit_stale',
  'permit_refused',
  'permit_busy',
  'no_funds',
  'none_held',
]);
/** The wallet may still do what it was asked for. */
const ASKED = new Set<WalletWord>(['approving', 'clearing', 'approved_wait', 'permitting', 'signing']);

/** What a payer chooses: a wallet, and a token on a network. */
export interface Choice {
  wallet: FoundWallet;
  wallets: MandateWallets;
  token: string;
}

/** What the payer has chosen, and what it would sign. */
export interface Chosen extends Choice {
  code: MandateWallet;
  terms: MandateTerms;
}

export interface Said {
  word: WalletWord;
  text: string;
}

const capText = ({ cap }: MandateOffer, token: string) => tokensText(BigInt(cap), token);
const approvalText = ({ steps }: MandateOffer, token: string) => tokensText(BigInt(steps[0].amount), token);

const endText = ({ endsAt }: MandateTerms, { language }: WalletData, t: Translate<'wallet'>) =>
  endsAt === 0 ? t('terms_no_end') : dayText(endsAt, language);

/** What the page shows of the terms, by the names of their places. */
export function shownTerms(
  { token, terms }: Pick<Chosen, 'token' | 'terms'>,
  data: WalletData,
  t: Translate<'wallet'>,
) {
  const { offer } = terms;
  return {
    period: t(`terms_cap_${data.interval}`),
    cap: capText(offer, token),
    count: String(offer.subscriptions),
    end: endText(terms, data, t),
    approval: approvalText(offer, token),
    spender: offer.steps[0].spender,
  };
}

const exactText = (name: string) => document.querySelector(`[data-exact=${name}]`)?.textContent;

/** A call of the page. @returns a word that says why the server refuses it, by the field that is wrong */
async function callOrWord<T>(
  url: string,
  fields: Record<string, string>,
  words: typeof REFUSALS,
): Promise<T | WalletWord> {
  try {
    return await postForm<T>(url, fields);
  } catch (error) {
    const word = error instanceof FormRefused ? words[error.param ?? ''] : undefined;
    if (word === undefined) throw error;
    return word;
  }
}

/** Hands the signed terms in; where no server answers, a little later again. @returns why they are refused */
async function handIn(
  url: string,
  fields: Record<string, string>,
  tries: number,
): Promise<WalletWord | null> {
  for (let left = tries; ; left--) {
    const answer = await callOrWord<object>(url, fields, REFUSALS).catch((error) => {
      if (left === 0 || (error instanceof FormRefused && error.param !== undefined)) throw error;
      return 'no_approval' as const;
    });
    if (typeof answer !== 'string') return null;
    if (answer !== 'no_approval' || left === 0) return answer;
    await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS));
  }
}

/** What the server is asked for, by the names of its calls. */
function callsOf(
  urlOf: (name: string) => string,
  { wallets: { network, kind }, token }: Choice,
): Pick<SolanaMandate, 'offer' | 'approval' | 'sign'> {
  const choice = { network, currency: token };
  return {
    offer: (wallet) => callOrWord<MandateOffer>(urlOf('offer'), { ...choice, wallet }, OFFER_REFUSALS),
    approval: (wallet, { cap, steps: [{ amount }] }) =>
      callOrWord(urlOf('approval'), { ...choice, wallet, amount, cap }, APPROVAL_REFUSALS),
    sign: ({ wallet: account, cap, subscriptions, starts_at, steps: [approval] }, signature, permit) => {
      const permitted =
        approval.kind === 'permit' && permit !== null
          ? { permit_nonce: approval.nonce, permit_signature: permit }
          : {};
      const terms = { cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
      const signed = { ...choice, ...terms, ...permitted, wallet: account, signature };
      return handIn(urlOf('sign'), signed, TRIES[kind]);
    },
  };
}

/** As options are named, such as `USDT:erc20`. */
export const optionOf = (token: string, network: string) => `${token}:${network}`;

/** What this page has sent within the last 10 minutes, and of which token. */
function readApproval(page: string): (SentApproval & { option: string; atMs: number }) | null {
  const { text, atMs = 0 } = readSent(page) ?? {};
  const [option, account, hash, amount] = text?.split(' ') ?? [];
  const isWhole = option !== undefined && account !== undefined && hash !== undefined && amount !== undefined;
  return isWhole ? { option, account, hash, amount, atMs } : null;
}

interface Part {
  data: WalletData;
  t: Translate<'wallet'>;
}

interface RunEvents extends Pick<MandateRun, 'isStopped' | 'onTampered'> {
  onSent: () => void;
  onSaid: (said: Said) => void;
}

/** Loads the code of the wallet's kind. */
async function loadWallet(
  choice: Choice,
  { data, t }: Part,
  { isStopped, onSaid, onSent, onTampered }: RunEvents,
): Promise<MandateWallet> {
  const { wallet, wallets, token } = choice;
  const { language, token: page, interval } = data;
  const option = optionOf(token, wallets.network);
  const run = {
    token,
    contract: wallets.options.find((one) => one.token === token)?.contract ?? '',
    interval,
    isStopped,
    say: (word: WalletWord, values: WalletValues = {}) =>
      onSaid({ word, text: t(word, { wallet: wallet.name, ...values }) }),
    isShown: (terms: MandateTerms) =>
      Object.entries(shownTerms({ ...choice, terms }, data, t)).every(
        ([name, text]) => exactText(name) === text,
      ),
    readSent: () => {
      const sent = readApproval(page);
      return sent?.option === option ? sent : null;
    },
    onSent: ({ account, hash, amount }: SentApproval) => {
      keepSent(page, `${option} ${account} ${hash} ${amount}`);
      onSent();
    },
    onTampered,
    ...callsOf((name) => `${page}/mandate/${name}?lang=${language}`, choice),
  };
  if (wallet.kind === 'ethereum' && wallets.kind === 'ethereum') {
    const { ethereumMandate } = await import('./mandate-ethereum.ts');
    return ethereumMandate({ ...run, wallets, provider: wallet.provider, chain: wallets.chain });
  }
  if (wallet.kind === 'solana' && wallets.kind === 'solana') {
    const { solanaMandate } = await import('./mandate-solana.ts');
    return solanaMandate({ ...run, wallets, wallet: wallet.wallet });
  }
  if (wallet.kind === 'tron' && wallets.kind === 'tron') {
    const { tronMandate } = await import('./mandate-tron.ts');
    return tronMandate({ ...run, wallets, provider: wallet.provider, isOld: wallet.isOld });
  }
  throw new Error('a wallet is of its network');
}

/** A mandate of a wallet in the browser: its terms first, then the approval and the signature. */
export function useMandate(data: WalletData, t: Translate<'wallet'>) {
  const { language, token: page } = data;
  const [sent, setSent] = useState(() => readApproval(page));
  const [said, setSaid] = useState<Said | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isTampered, setTampered] = useState(false);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const turn = useRef(0);

  const load = (choice: Choice) => {
    const own = turn.current;
    return loadWallet(
      choice,
      { data, t },
      {
        isStopped: () => turn.current !== own,
        onSaid: (one) => {
          if (turn.current !== own) return;
          setSaid(one);
          // The terms that the payer has read are not those that would be signed.
          if (STALE.has(one.word)) setChosen(null);
          // What was sent before was another approval.
          if (one.word === 'terms_changed') dropSent(page);
        },
        onSent: () => setSent(readApproval(page)),
        onTampered: () => setTampered(true),
      },
    );
  };
  /** What comes after the payer has stopped waiting says nothing any more. */
  const whileBusy = async ({ wallet }: Choice, work: (isOver: () => boolean) => Promise<void>) => {
    const own = turn.current;
    const isOver = () => turn.current !== own;
    setBusy(true);
    setSaid(null);
    try {
      await work(isOver);
    } catch (error) {
      const reason = String(Object(error).message);
      if (!isOver()) setSaid({ word: 'error', text: t('error', { wallet: wallet.name, reason }) });
    }
    if (!isOver()) setBusy(false);
  };
  const begin = async (choice: Choice) => {
    if (isBusy) return;
    turn.current++;
    await whileBusy(choice, async (isOver) => {
      setChosen(null);
      const code = await load(choice);
      const terms = await code.readTerms();
      if (terms === undefined || isOver()) return;
      setSaid(null);
      setChosen({ ...choice, code, terms });
    });
  };
  const give = async (one: Chosen) => {
    if (isBusy) return;
    await whileBusy(one, async () => {
      if (!(await one.code.give(one.terms))) return;
      dropSent(page);
      location.assign(`?lang=${language}`);
    });
  };
  const stop = () => {
    turn.current++;
    setBusy(false);
    setChosen(null);
    const isAsked = chosen !== null && said !== null && ASKED.has(said.word);
    setSaid(isAsked ? { word: 'gone', text: t('gone', { wallet: chosen.wallet.name }) } : null);
  };
  return { said, sent, isBusy, isTampered, chosen, begin, give, stop };
}
