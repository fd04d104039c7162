import { useRef, useState } from 'preact/hooks';
import { FormRefused, postForm } from '../../checkout/live.ts';
import type { FoundWallet } from '../../checkout/wallet/found-wallets.ts';
import type { WalletValues, WalletWord } from '../../checkout/wallet/run.ts';
import type { Translate } from '../../texts.ts';
import { tokensText } from '../../written.ts';
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
  wallet: 'no_approval',
  cap: 'terms_changed',
  starts_at: 'terms_changed',
};

const STALE = new Set<WalletWord>(['terms_changed', 'terms_differ', 'permit_stale']);
/** The wallet may still do what it was asked for. */
const ASKED = new Set<WalletWord>(['approving', 'clearing', 'approved_wait', 'permitting', 'signing']);

/** The wallet that the payer has chosen, and what it would sign. */
export interface Chosen {
  wallet: FoundWallet;
  token: string;
  run: MandateRun;
  terms: MandateTerms;
}

export interface Said {
  word: WalletWord;
  text: string;
}

export const capText = ({ cap }: MandateOffer, token: string) => tokensText(BigInt(cap), token);
export const approvalText = ({ steps }: MandateOffer, token: string) =>
  tokensText(BigInt(steps[0].amount), token);

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
    offer: (account) => postForm<MandateOffer>(urlOf('offer'), { ...choice, wallet: account }),
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

/** A mandate of a wallet in the browser: its terms first, then the approval and the signature. */
export function useMandate({ wallets, language, token: page }: WalletData, t: Translate<'wallet'>) {
  const [said, setSaid] = useState<Said | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isTampered, setTampered] = useState(false);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const turn = useRef(0);

  const runOf = (wallet: FoundWallet, token: string): MandateRun => {
    const own = turn.current;
    return {
      wallets,
      token,
      provider: wallet.provider,
      chain: wallets.chain,
      isStopped: () => turn.current !== own,
      say: (word: WalletWord, values: WalletValues = {}) => {
        if (turn.current !== own) return;
        setSaid({ word, text: t(word, { wallet: wallet.name, ...values }) });
        // The terms that the payer has read are not those that would be signed.
        if (STALE.has(word)) setChosen(null);
      },
      isShown: ({ offer }) =>
        exactText('cap') === capText(offer, token) && exactText('approval') === approvalText(offer, token),
      onTampered: () => setTampered(true),
      ...callsOf((name) => `${page}/mandate/${name}?lang=${language}`, token),
    };
  };
  /** What comes after the payer has stopped waiting says nothing any more. */
  const whileBusy = async (wallet: FoundWallet, work: (isOver: () => boolean) => Promise<void>) => {
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
  const begin = async (wallet: FoundWallet, token: string) => {
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
      if (await giveMandate(run, terms)) location.assign(`?lang=${language}`);
    });
  };
  const stop = () => {
    turn.current++;
    setBusy(false);
    setChosen(null);
    const isAsked = chosen !== null && said !== null && ASKED.has(said.word);
    setSaid(isAsked ? { word: 'gone', text: t('gone', { wallet: chosen.wallet.name }) } : null);
  };
  return { said, isBusy, isTampered, chosen, begin, give, stop };
}
