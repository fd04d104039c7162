import type { ComponentProps } from 'preact';
import { translatorOf } from '../catalogues.ts';
import { Contact, LeaveLink, Note, Price, type Row, Rows, Sign } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import { storeSheet } from '../design/store-sheet.tsx';
import type { SubscribeState, SubscribeView } from '../views/subscription.ts';
import { ItemText, itemText, recurringText, type T, titleOf, WalletForm } from './parts.tsx';

interface Props {
  view: SubscribeView;
  t: T;
}

function Subject({ view, t }: Props) {
  const { items, description } = view;
  return (
    <>
      <Price text={recurringText(view, t)} />
      <div class="subject quiet">
        {items.map((item) => (
          <p key={item.product}>
            <bdi>{itemText(item, t)}</bdi>
          </p>
        ))}
        {description === null ? null : (
          <p class="small">
            <bdi>{description}</bdi>
          </p>
        )}
      </div>
    </>
  );
}

function Return({ view: { returnUrl, state, storeName: store }, t }: Props) {
  if (returnUrl === null) return null;
  const text = t(state === 'choose' ? 'return_without' : 'return', { store });
  return <LeaveLink href={returnUrl} isMain={state === 'done'} text={text} />;
}

/** One click of the sandbox's wallet; a live merchant's page has none yet. */
function Wallet({ view, t }: Props) {
  const { isSimulated, interval, storeName: store, cap, language, options, token } = view;
  if (!isSimulated) return <Note tone="plain">{t('wallet_none')}</Note>;
  return (
    <>
      <p>{t(`wallet_${interval}`, { store, cap })}</p>
      <p class="quiet small">{t('cap_reason')}</p>
      <WalletForm language={language} options={options} action={`${token}/wallet`} />
    </>
  );
}

function Choose({ view, t }: Props) {
  const { storeName: store, freeUntil, first, declined, invoiceToken, language } = view;
  return (
    <>
      <section class="card">
        <h1>{t('title', { store })}</h1>
        <Subject view={view} t={t} />
        {freeUntil === null ? null : <Note tone="good">{t('trial', { date: freeUntil })}</Note>}
        {first === null ? null : <p>{t('first', first)}</p>}
        {declined === null ? null : (
          <Note tone="bad" role="alert" title={t('declined_title')}>
            {t(`declined_${declined}`)}
          </Note>
        )}
        <h2>{t('wallet_title')}</h2>
        <Wallet view={view} t={t} />
        <Return view={view} t={t} />
      </section>
      {invoiceToken === null ? null : (
        <section class="card">
          <h2>{t('once_title')}</h2>
          <p>{t('once_text')}</p>
          <a class="button plain" href={`../checkout/${invoiceToken}?lang=${language}`}>
            {t('once_button')}
          </a>
        </section>
      )}
    </>
  );
}

const SIGNS: Record<Exclude<SubscribeState, 'choose'>, ComponentProps<typeof Sign>> = {
  confirming: { tone: 'wait', icon: 'clock' },
  review: { tone: 'wait', icon: 'pause' },
  done: { tone: 'good', icon: 'check' },
  ended: { tone: 'bad', icon: 'cross' },
  expired: { tone: 'bad', icon: 'cross' },
};

/** Where the payer has nothing to choose: a payment is under way, or it is over. */
function Outcome({ view, t, state }: Props & { state: keyof typeof SIGNS }) {
  const { storeName: store, items, paidUntil, language } = view;
  const rows: Row[] = [
    ...items.map((item): Row => [t('for'), <ItemText key={item.product} item={item} t={t} />]),
    [t('price'), recurringText(view, t)],
    [t('next_payment'), paidUntil],
  ];
  return (
    <section class="card">
      <Sign {...SIGNS[state]} />
      <h1 class="center">{t(`${state}_title`)}</h1>
      <p class="center">{t(`${state}_text`, { store })}</p>
      {state === 'review' ? (
        <Contact brand={view.brand} label={translatorOf('shell', language)('contact', { store })} />
      ) : null}
      {state === 'done' ? <Rows rows={rows} /> : null}
      {state === 'confirming' ? (
        <a class="button plain" href={`?lang=${language}`}>
          {t('look_again')}
        </a>
      ) : (
        <Return view={view} t={t} />
      )}
    </section>
  );
}

/** The page for the first payment. */
export function subscribeSheet(view: SubscribeView): Sheet {
  const { language, state, storeName: store } = view;
  const t = translatorOf('subscription', language);
  if (state === 'choose') {
    return storeSheet(view, titleOf(t('title', { store }), view), <Choose view={view} t={t} />);
  }
  const title = titleOf(t(`${state}_title`), view);
  return storeSheet(view, title, <Outcome view={view} t={t} state={state} />);
}
