import { useRef, useState } from 'preact/hooks';
import { FormRefused, postForm } from '../../checkout/live.ts';
import type { EthereumWallet } from '../../checkout/wallet/found-wallets.ts';
import type { WalletValues, WalletWord } from '../../checkout/wallet/run.ts';
import { dropSent, keepSent, readSent } from '../../checkout/wallet/sent-note.ts';
import type { Translate } from '../../texts.ts';
import { dayText, tokensText } from '../../written.ts';
import type { MandateOffer, MandateRun, MandateTerms } from './mandate-run.ts';
import type { WalletData } from './wallet-data.ts';

/** The server reads the approval from its own node, which may be a block behind the wallet's. */
const TRIES = 6;
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
};

const STALE = new Set<WalletWord>([
  'terms_changed',
  'terms_differ',
  'permit_stale',
  'permit_refused',
  'permit_busy',
  'no_funds',
]);
/** The wallet may still do what it was asked for. */
const ASKED = new Set<WalletWord>(['approving', 'clearing', 'approved_wait', 'permitting', 'signing']);

/** The wallet that the payer has chosen, and what it would sign. */
export interface Chosen {
  wallet: EthereumWallet;
  token: string;
  run: MandateRun;
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

/** Hands the signed terms in. @returns why they are refused */
async function handIn(url: string, fields: Record<string, string>): Promise<WalletWord | null> {
  for (let left = TRIES; ; left--) {
    try {
      await postForm(url, fields);
      return null;
    } catch (error) {
      const word = error instanceof FormRefused ? REFUSALS[error.param ?? ''] : undefined;
      if (word === undefined) throw error;
      if (word !== 'no_approval' || left === 0) return word;
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS));
    }
  }
}

/** What the server is asked for, by the names of its calls. */
function callsOf(urlOf: (name: string) => string, token: string): Pick<MandateRun, 'offer' | 'sign'> {
  const choice = { network: 'erc20', currency: token };
  return {
    offer: async (account) => {
      try {
        return await postForm<MandateOffer>(urlOf('offer'), { ...choice, wallet: account });
      } catch (error) {
        const word = error instanceof FormRefused ? OFFER_REFUSALS[error.param ?? ''] : undefined;
        if (word === undefined) throw error;
        return word;
      }
    },
    sign: ({ wallet: account, cap, subscriptions, starts_at, steps: [approval] }, signature, permit) => {
      const permitted =
        approval.kind === 'permit' && permit !== null
          ? { permit_nonce: approval.nonce, permit_signature: permit }
          : {};
      const terms = { cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
      return handIn(urlOf('sign'), { ...choice, ...terms, ...permitted, wallet: account, signature });
    },
  };
}

/** An approval that this page has sent within the last 10 minutes. */
function readApproval(page: string) {
  const [account, hash] = readSent(page)?.text.split(' ') ?? [];
  return account === undefined || hash === undefined ? null : { account, hash };
}

interface RunEvents extends Pick<MandateRun, 'isStopped' | 'onSent' | 'onTampered'> {
  onSaid: (said: Said) => void;
}

/** What the code that is loaded for a wallet is handed. */
function mandateRun(
  { wallet, token, data, t }: Pick<Chosen, 'wallet' | 'token'> & { data: WalletData; t: Translate<'wallet'> },
  { isStopped, onSaid, onSent, onTampered }: RunEvents,
): MandateRun {
  const { wallets, language, token: page, interval } = data;
  return {
    wallets,
    token,
    interval,
    provider: wallet.provider,
    chain: wallets.chain,
    isStopped,
    say: (word: WalletWord, values: WalletValues = {}) =>
      onSaid({ word, text: t(word, { wallet: wallet.name, ...values }) }),
    isShown: (terms) =>
      Object.entries(shownTerms({ token, terms }, data, t)).every(([name, text]) => exactText(name) === text),
    readSent: () => readApproval(page),
    onSent: (approval) => {
      keepSent(page, `${approval.account} ${approval.hash}`);
      onSent(approval);
    },
    onTampered,
    ...callsOf((name) => `${page}/mandate/${name}?lang=${language}`, token),
  };
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

  const runOf = (wallet: EthereumWallet, token: string) => {
    const own = turn.current;
    return mandateRun(
      { wallet, token, data, t },
      {
        isStopped: () => turn.current !== own,
        onSaid: (one) => {
          if (turn.current !== own) return;
          setSaid(one);
          // The terms that the payer has read are not those that would be signed.
          if (STALE.has(one.word)) setChosen(null);
        },
        onSent: setSent,
        onTampered: () => setTampered(true),
      },
    );
  };
  /** What comes after the payer has stopped waiting says nothing any more. */
  const whileBusy = async (wallet: EthereumWallet, work: (isOver: () => boolean) => Promise<void>) => {
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
  const begin = async (wallet: EthereumWallet, token: string) => {
    if (isBusy) return;
    turn.current++;
    await whileBusy(wallet, async (isOver) => {
      setChosen(null);
      const run = runOf(wallet, token);
      const { readTerms } = await import('./mandate.ts');
      const terms = await readTerms(run);
      if (terms === undefined || isOver()) return;
      setSaid(null);
      setChosen({ wallet, token, run, terms });
    });
  };
  const give = async ({ wallet, run, terms }: Chosen) => {
    if (isBusy) return;
    await whileBusy(wallet, async () => {
      const { giveMandate } = await import('./mandate.ts');
      if (!(await giveMandate(run, terms))) return;
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
