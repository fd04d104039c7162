import type { ComponentProps } from 'preact';
import { textsOf, translatorOf } from '../catalogues.ts';
import { Contact, Exact, Hidden, Note, type Row, Rows, Sign } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import { storeSheet } from '../design/store-sheet.tsx';
import { type TextKey, withElements } from '../texts.ts';
import type {
  AddressFault,
  ClaimCheckView,
  ClaimFormView,
  ClaimOutcome,
  ClaimOutcomeView,
} from '../views/claim.ts';

const ADDRESS_LENGTH_MAX = 256;
/** Network and standard, as wallets and exchanges write them. */
const NETWORK_LABELS = { erc20: 'Ethereum (ERC-20)', trc20: 'Tron (TRC-20)', spl: 'Solana (SPL)' };

/** Its pages are at `/refunds/claim/{token}`. */
const CLAIM_ROOT = '../../';

type ClaimView = ClaimFormView | ClaimCheckView | ClaimOutcomeView;

const titleOf = (title: string, { storeName }: ClaimView) => `${title} – ${storeName}`;

/** A text with what it names. */
function Filled({ view, text }: { view: ClaimView; text: TextKey<'claim'> }) {
  const { language, storeName, amount, network } = view;
  const elements = {
    amount: (
      <b>
        <bdi>{amount}</bdi>
      </b>
    ),
    network: <bdi>{NETWORK_LABELS[network]}</bdi>,
    store: <bdi>{storeName}</bdi>,
  };
  return <>{withElements(textsOf('claim', language)[text], elements)}</>;
}

function Details({ view, address, txId }: { view: ClaimView; address: string | null; txId: string | null }) {
  const t = translatorOf('claim', view.language);
  const rows: Row[] = [
    [t('amount'), view.amount],
    [t('network'), NETWORK_LABELS[view.network]],
    ...(address === null ? [] : [[t('address'), <Exact key="address" text={address} />] as const]),
    ...(txId === null ? [] : [[t('transaction'), <Exact key="transaction" text={txId} />] as const]),
  ];
  return <Rows rows={rows} />;
}

function AddressError({ view, fault }: { view: ClaimView; fault: AddressFault }) {
  const t = translatorOf('claim', view.language);
  return (
    <Note tone="bad" id="error" role="alert" title={t('error_title')}>
      <Filled view={view} text={`error_${fault}`} />
    </Note>
  );
}

/** Asks where the money goes. The form is sent to the page's own address, language included. */
export function claimFormSheet(view: ClaimFormView): Sheet {
  const { language, typed, fault } = view;
  const t = translatorOf('claim', language);
  const isWrong = fault !== null;
  return storeSheet(
    view,
    titleOf(t('title'), view),
    <section class="card">
      <h1>{t('title')}</h1>
      <p>
        <Filled view={view} text="lead" />
      </p>
      {isWrong ? <AddressError view={view} fault={fault} /> : null}
      <form method="post" action={`?lang=${language}`}>
        <label class="text" for="address">
          <Filled view={view} text="label" />
        </label>
        <input
          type="text"
          id="address"
          name="address"
          dir="ltr"
          value={typed}
          required
          maxLength={ADDRESS_LENGTH_MAX}
          autocomplete="off"
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
          aria-invalid={isWrong ? 'true' : undefined}
          aria-describedby={isWrong ? 'error hint' : 'hint'}
          autofocus={isWrong}
        />
        <p class="small quiet" id="hint">
          <Filled view={view} text="hint" />
        </p>
        <p class="small">{t('once')}</p>
        <button type="submit">{t('continue')}</button>
      </form>
    </section>,
    CLAIM_ROOT,
  );
}

/** Shows the address once more before it counts: nobody can take the money back from a wrong one. */
export function claimCheckSheet(view: ClaimCheckView): Sheet {
  const { language, address } = view;
  const t = translatorOf('claim', language);
  return storeSheet(
    view,
    titleOf(t('check_title'), view),
    <section class="card">
      <h1>{t('check_title')}</h1>
      <p>{t('check_text')}</p>
      <dl class="field">
        <dt>{t('address')}</dt>
        <dd class="address">
          <bdi>{address}</bdi>
        </dd>
      </dl>
      <Details view={view} address={null} txId={null} />
      <form method="post" action={`?lang=${language}`}>
        <p>
          <button type="submit">{t('send')}</button>
        </p>
        <Hidden fields={{ address, sure: 'yes' }} />
      </form>
      <a class="button plain" href={`?lang=${language}`}>
        {t('back')}
      </a>
    </section>,
    CLAIM_ROOT,
  );
}

const SIGNS: Record<ClaimOutcome, ComponentProps<typeof Sign>> = {
  awaiting_approval: { tone: 'wait', icon: 'clock' },
  under_way: { tone: 'wait', icon: 'clock' },
  paid: { tone: 'good', icon: 'check' },
  failed: { tone: 'bad', icon: 'cross' },
  over: { tone: 'bad', icon: 'cross' },
};

export function claimOutcomeSheet(view: ClaimOutcomeView): Sheet {
  const { language, outcome, address, txId } = view;
  const title = translatorOf('claim', language)(`${outcome}_title`);
  const isLost = outcome === 'failed' || outcome === 'over';
  return storeSheet(
    view,
    titleOf(title, view),
    <section class="card">
      <Sign {...SIGNS[outcome]} />
      <h1 class="center">{title}</h1>
      <p class="center">
        <Filled view={view} text={`${outcome}_text`} />
      </p>
      {isLost ? (
        <Contact
          brand={view.brand}
          label={translatorOf('shell', language)('contact', { store: view.storeName })}
        />
      ) : (
        <Details view={view} address={address} txId={txId} />
      )}
    </section>,
    CLAIM_ROOT,
  );
}
