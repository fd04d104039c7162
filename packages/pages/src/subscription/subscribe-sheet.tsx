import type { ComponentProps } from 'preact';
import { textsOf, translatorOf } from '../catalogues.ts';
import { APP_NAMES } from '../checkout/wallet/wallet-apps.tsx';
import { Contact, LeaveLink, Note, type Row, Rows, Sign } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import { storeSheet } from '../design/store-sheet.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { PortalSubscription, SubscribeState, SubscribeView } from '../views/subscription.ts';
import {
  chooseText,
  ItemText,
  itemText,
  OwnText,
  Problem,
  Revoking,
  recurringText,
  type T,
  titleOf,
  WalletForm,
  walletText,
} from './parts.tsx';
import type { WalletData } from './wallet/wallet-data.ts';

interface Props {
  view: SubscribeView;
  t: T;
}

function Subject({ view, t }: Props) {
  const { items, description } = view;
  return (
    <>
      <p class="price">
        <OwnText text={recurringText(view, t)} />
      </p>
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

function Return({ view: { returnUrl, state, storeName: store, begun }, t }: Props) {
  if (returnUrl === null) return null;
  const text = t(state === 'choose' ? 'return_without' : 'return', { store });
  return <LeaveLink href={returnUrl} isMain={state === 'done' && begun?.problem == null} text={text} />;
}

/** One click of the sandbox's wallet; on a network with real money the wallets that the page's script finds. */
function Wallet({ view, t }: Props) {
  const { isSimulated, interval, storeName: store, cap, language, options, token } = view;
  if (!isSimulated && view.wallets.length === 0) return <Note tone="plain">{t('wallet_none')}</Note>;
  if (!isSimulated) {
    return (
      <>
        <p>{t(`wallet_${interval}`, { store, cap })}</p>
        <p class="quiet small">{t('cap_reason')}</p>
        <FoundWallets t={t} />
      </>
    );
  }
  return (
    <>
      <p>{t(`wallet_${interval}`, { store, cap })}</p>
      <p class="quiet small">{t('cap_reason')}</p>
      <WalletForm language={language} options={options} action={`${token}/wallet`} />
    </>
  );
}

/** The page's script puts what it finds into this. */
const FoundWallets = ({ t }: Pick<Props, 't'>) => (
  <div id="wallets">
    <Note tone="plain">{t('wallet_not_found')}</Note>
  </div>
);

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
  overdue: { tone: 'warn', icon: 'exclamation' },
  ended: { tone: 'bad', icon: 'cross' },
  expired: { tone: 'bad', icon: 'cross' },
};

const headingOf = (state: keyof typeof SIGNS, t: T) =>
  t(state === 'overdue' ? 'status_past_due' : `${state}_title`);

/** The subscription as it stands: what is wrong with its wallet, what is due, and another wallet. */
function Begun({ view, t, begun }: Props & { begun: PortalSubscription }) {
  const { items, token, language, isSimulated } = view;
  const { date, wallet, problem, due, options } = begun;
  const rows: Row[] = [
    ...items.map((item): Row => [t('for'), <ItemText key={item.product} item={item} t={t} />]),
    [t('price'), <OwnText key="price" text={recurringText(view, t)} />],
    ...(date === null ? [] : [[t(date.kind), date.day] as const]),
    [t('wallet'), <OwnText key="wallet" text={walletText(wallet, t)} />],
  ];
  return (
    <>
      <Rows rows={rows} />
      <Problem own={begun} t={t} />
      {due === null || due.payToken === null ? null : (
        <p>
          <a class="button" href={`../checkout/${due.payToken}?lang=${language}`}>
            {t('pay_page', { price: due.price })}
          </a>
        </p>
      )}
      {view.wallets.length > 0 && options.length > 0 ? (
        <details class="leave" open={problem !== null}>
          <summary>{chooseText(begun, t)}</summary>
          <FoundWallets t={t} />
        </details>
      ) : null}
      {isSimulated && options.length > 0 ? (
        <details class="leave" open={problem !== null}>
          <summary>{chooseText(begun, t)}</summary>
          <WalletForm language={language} options={options} known={wallet} action={`${token}/wallet`} />
        </details>
      ) : null}
      <Revoking own={begun} language={language} t={t} />
    </>
  );
}

/** Where nothing has to be paid for the subscription to begin: a payment is under way, it has begun, or it is over. */
function Outcome({ view, t, state }: Props & { state: keyof typeof SIGNS }) {
  const { storeName: store, begun, language } = view;
  return (
    <section class="card">
      <Sign {...SIGNS[state]} />
      <h1 class="center">{headingOf(state, t)}</h1>
      {state === 'overdue' ? null : <p class="center">{t(`${state}_text`, { store })}</p>}
      {state === 'review' ? (
        <Contact brand={view.brand} label={translatorOf('shell', language)('contact', { store })} />
      ) : null}
      {begun === null ? null : <Begun view={view} t={t} begun={begun} />}
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

/** What the script starts from, where wallets of browsers can be charged. */
function walletData({ language, token, interval, options, wallets }: SubscribeView): WalletData {
  const t = translatorOf('subscription', language);
  const words = translatorOf('checkout', language);
  return {
    language,
    token,
    interval,
    wallets,
    texts: textsOf('wallet', language),
    noneText: t('wallet_not_found'),
    chooseText: t('wallet_choose'),
    otherText: t('replace_title'),
    optionTexts: Object.fromEntries(
      options.map(({ value, token, networkName: network }) => [value, t('option', { token, network })]),
    ),
    apps: {
      summary: words('wallet_apps'),
      text: words('wallet_apps_text'),
      links: Object.fromEntries(APP_NAMES.map((wallet) => [wallet, words('wallet_open', { wallet })])),
    },
    tampered: { heading: words('tampered_heading'), text: words('tampered_text') },
  };
}

/** The page of a subscription. */
export function subscribeSheet(view: SubscribeView, { name, integrity }: BuiltScript): Sheet {
  const { language, state, storeName: store, wallets } = view;
  const t = translatorOf('subscription', language);
  const script =
    wallets.length === 0
      ? {}
      : { script: { src: `../checkout/assets/${name}`, integrity, data: walletData(view) } };
  if (state === 'choose') {
    return {
      ...storeSheet(view, titleOf(t('title', { store }), view), <Choose view={view} t={t} />),
      ...script,
    };
  }
  const title = titleOf(headingOf(state, t), view);
  return { ...storeSheet(view, title, <Outcome view={view} t={t} state={state} />), ...script };
}
