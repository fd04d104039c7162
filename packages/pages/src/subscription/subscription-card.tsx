import { translatorOf } from '../catalogues.ts';
import { Hidden, type Row, Rows } from '../design/parts.tsx';
import type { PortalInvoice, PortalSubscription, PortalView } from '../views/subscription.ts';
import {
  chooseText,
  itemText,
  OwnText,
  Problem,
  Revoking,
  recurringText,
  type T,
  WalletForm,
  walletText,
} from './parts.tsx';

interface Props {
  view: PortalView;
  own: PortalSubscription;
  t: T;
}

/** A button that asks for something; the form goes to the page's own address. */
function ActionForm(props: Omit<Props, 't'> & { action: string; text: string; isPlain?: boolean }) {
  const { view, own, action, text, isPlain = true } = props;
  return (
    <form class="leave" method="post" action={`${view.token}?lang=${view.language}`}>
      <Hidden fields={{ action, subscription: own.id }} />
      <p>
        <button type="submit" class={isPlain ? 'plain' : undefined}>
          {text}
        </button>
      </p>
    </form>
  );
}

const checkoutOf = (payToken: string, { language }: PortalView) => `../checkout/${payToken}?lang=${language}`;

/** Pays what is due: on its page, or by another try of the wallet. */
function Due({ view, own, t }: Props) {
  const { due, wallet, isOver } = own;
  if (due === null || isOver) return null;
  const { price, payToken } = due;
  return (
    <>
      {payToken === null ? null : (
        <p>
          <a class="button" href={checkoutOf(payToken, view)}>
            {t('pay_page', { price })}
          </a>
        </p>
      )}
      {wallet === null ? null : (
        <ActionForm
          view={view}
          own={own}
          action="pay"
          text={t('pay_again', { price })}
          isPlain={payToken !== null}
        />
      )}
    </>
  );
}

function Changes({ view, own, t }: Props) {
  const { language, token, isSimulated } = view;
  const { id, isOver, lastsUntil, isEnding, wallet, options, walletPage } = own;
  if (isOver) return null;
  return (
    <>
      {isSimulated && options.length > 0 ? (
        <details class="leave">
          <summary>{chooseText(own, t)}</summary>
          <WalletForm
            language={language}
            options={options}
            known={wallet}
            action={`${token}/wallet`}
            fields={{ subscription: id }}
          />
        </details>
      ) : null}
      {walletPage === null ? null : (
        // The page opens at the wallets that it finds.
        <a class="button plain gap" href={`../subscribe/${walletPage}?lang=${language}#wallets`}>
          {chooseText(own, t)}
        </a>
      )}
      {isEnding ? <ActionForm view={view} own={own} action="keep" text={t('keep_button')} /> : null}
      {lastsUntil === null ? null : (
        <ActionForm view={view} own={own} action="cancel" text={t('cancel_button')} />
      )}
    </>
  );
}

function Invoice({ view, invoice, t }: { view: PortalView; invoice: PortalInvoice; t: T }) {
  const { id, price, status, payToken } = invoice;
  const { language, token } = view;
  return (
    <>
      <bdi>{price}</bdi> · {t(`invoice_${status}`)}
      {status === 'paid' ? (
        <>
          {' · '}
          <a href={`${token}/receipts/${id}?lang=${language}`}>{t('receipt')}</a>
        </>
      ) : null}
      {status === 'paid' || payToken === null ? null : (
        <>
          {' · '}
          <a href={checkoutOf(payToken, view)}>{t('pay_page', { price })}</a>
        </>
      )}
    </>
  );
}

function Invoices({ view, own, t }: Props) {
  if (own.invoices.length === 0) return null;
  const rows = own.invoices.map(
    (invoice): Row => [invoice.day, <Invoice key={invoice.id} view={view} invoice={invoice} t={t} />],
  );
  return (
    <details class="leave">
      <summary>{t('invoices_title')}</summary>
      <Rows rows={rows} />
    </details>
  );
}

/** A subscription in the portal: what it is, what is due, and what can be changed. */
export function SubscriptionCard({ view, own }: Omit<Props, 't'>) {
  const t = translatorOf('subscription', view.language);
  const { id, items, status, date, wallet, isOver } = own;
  const rows: Row[] = [
    [t('price'), <OwnText key="price" text={recurringText(own, t)} />],
    [t('status'), t(`status_${status}`)],
    ...(date === null ? [] : [[t(date.kind), date.day] as const]),
    ...(isOver ? [] : [[t('wallet'), <OwnText key="wallet" text={walletText(wallet, t)} />] as const]),
  ];
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>
        <bdi>{items.map((item) => itemText(item, t)).join(' · ')}</bdi>
      </h2>
      <Rows rows={rows} />
      <Problem own={own} t={t} />
      <Due view={view} own={own} t={t} />
      <Changes view={view} own={own} t={t} />
      <Revoking own={own} language={view.language} t={t} />
      <Invoices view={view} own={own} t={t} />
    </section>
  );
}
