import { translatorOf } from '../catalogues.ts';
import { Exact, Hidden, LeaveLink, Note, type Row, Rows, Sign } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import { storeSheet } from '../design/store-sheet.tsx';
import type { PortalCancelView, PortalView, ReceiptView } from '../views/subscription.ts';
import { ItemText, itemText, type T, titleOf } from './parts.tsx';
import { SubscriptionCard } from './subscription-card.tsx';

function Message({ view, t }: { view: PortalView; t: T }) {
  const { storeName: store, isSuspended, refused, subscriptions } = view;
  return (
    <section class="card">
      <h1>{t('portal_title', { store })}</h1>
      {isSuspended ? (
        <Note
          tone="warn"
          title={translatorOf('notice', view.language)('subscription_suspended_title', { store })}
        >
          {translatorOf('notice', view.language)('subscription_suspended_text')}
        </Note>
      ) : null}
      {refused === null ? null : (
        <Note tone="bad" role="alert" title={t('refused_title')}>
          {t(refused)}
        </Note>
      )}
      {subscriptions.length === 0 ? <p>{t('portal_none')}</p> : null}
    </section>
  );
}

/** All subscriptions of a customer at a store. */
export function portalSheet(view: PortalView): Sheet {
  const { language, storeName: store, subscriptions, returnUrl } = view;
  const t = translatorOf('subscription', language);
  return storeSheet(
    view,
    titleOf(t('portal_title', { store }), view),
    <>
      <Message view={view} t={t} />
      {subscriptions.map((own) => (
        <SubscriptionCard key={own.id} view={view} own={own} />
      ))}
      <LeaveLink href={returnUrl} isMain={false} text={t('return', { store })} />
    </>,
  );
}

/** Asks once more: what is canceled is not renewed. */
export function portalCancelSheet(view: PortalCancelView): Sheet {
  const { language, token, id, items, lastsUntil } = view;
  const t = translatorOf('subscription', language);
  const self = `${token}?lang=${language}`;
  return storeSheet(
    view,
    titleOf(t('cancel_title'), view),
    <section class="card">
      <h1>{t('cancel_title')}</h1>
      <p>
        <bdi>
          <b>{items.map((item) => itemText(item, t)).join(' · ')}</b>
        </bdi>
      </p>
      <p>{t('cancel_text', { date: lastsUntil })}</p>
      {/* The button that stands out is the one that changes nothing. */}
      <a class="button gap" href={self}>
        {t('cancel_no')}
      </a>
      <form method="post" action={self}>
        <Hidden fields={{ action: 'cancel', subscription: id, sure: 'yes' }} />
        <button type="submit" class="plain danger">
          {t('cancel_yes')}
        </button>
      </form>
    </section>,
  );
}

export function receiptSheet(view: ReceiptView): Sheet {
  const { language, token, storeName, customer, items, period, price, paidAt, payment, invoiceId } = view;
  const t = translatorOf('subscription', language);
  const rows: Row[] = [
    [t('receipt_from'), storeName],
    [t('receipt_customer'), customer],
    ...items.map((item): Row => [t('for'), <ItemText key={item.product} item={item} t={t} />]),
    [t('receipt_period'), period],
    [t('price'), price],
    [t('receipt_paid'), paidAt],
    ...(payment === null
      ? []
      : [
          [t('receipt_received'), payment.received] as const,
          [t('receipt_network'), payment.networkName] as const,
          ...payment.txIds.map((id): Row => [t('receipt_transaction'), <Exact key={id} text={id} />]),
        ]),
    [t('receipt_invoice'), <Exact key={invoiceId} text={invoiceId} />],
  ];
  return storeSheet(
    view,
    titleOf(t('receipt'), view),
    <section class="card">
      <Sign tone="good" icon="check" />
      <h1 class="center">{t('receipt')}</h1>
      <Rows rows={rows} />
      <p class="center">
        <a href={`../../${token}?lang=${language}`}>{t('back')}</a>
      </p>
    </section>,
    '../../../',
  );
}
