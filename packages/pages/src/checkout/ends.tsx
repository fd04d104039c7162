import type { ComponentProps } from 'preact';
import { NetworkGlyph } from '../design/glyphs.tsx';
import { Contact, Exact, Note, type Row, Rows, Sign } from '../design/parts.tsx';
import type { PageState, PageTransaction } from '../views/checkout.ts';
import { Confirmations } from './confirmations.tsx';
import type { Page } from './context.ts';
import { Notices } from './notices.tsx';

type EndState = Exclude<PageState, 'choose' | 'pay'>;

const SIGNS: Record<EndState, ComponentProps<typeof Sign>> = {
  confirming: { tone: 'wait', icon: 'clock' },
  closing: { tone: 'wait', icon: 'clock' },
  paid: { tone: 'good', icon: 'check' },
  expired: { tone: 'warn', icon: 'exclamation' },
  canceled: { tone: 'warn', icon: 'cross' },
  over: { tone: 'warn', icon: 'minus' },
  frozen: { tone: 'warn', icon: 'pause' },
  suspended: { tone: 'warn', icon: 'pause' },
};

/** Where nothing has to be asked, unless a notice says to. */
const CALM = new Set<EndState>(['confirming', 'closing', 'paid']);

function Transaction({
  page: { t },
  transaction: { id, url, amount },
}: {
  page: Page;
  transaction: PageTransaction;
}) {
  return (
    <>
      {amount === null ? null : (
        <>
          <bdi>{amount}</bdi>{' '}
        </>
      )}
      <Exact text={id} />
      {url === null ? null : (
        <>
          {' '}
          <a class="small" href={url} target="_blank" rel="noreferrer">
            {t('explorer')}
          </a>
        </>
      )}
    </>
  );
}

/** Amount, network, address and transactions of what was chosen. */
function Details({ page }: { page: Page }) {
  const { view, t } = page;
  if (view.details === null) return null;
  const { asked, received, refunding, refunded, network, networkName, address, transactions, paidAt } =
    view.details;
  const rows: Row[] = [
    ...(view.price === asked ? [] : [[t('receipt_price'), view.price] as const]),
    ...(received === asked ? [] : [[t('amount'), asked] as const]),
    ...(received === null ? [] : [[t('receipt_received'), received] as const]),
    ...(refunding === null ? [] : [[t('receipt_refunding'), refunding] as const]),
    ...(refunded === null ? [] : [[t('receipt_refunded'), refunded] as const]),
    [
      t('network'),
      <span key="network" class="with-glyph">
        <NetworkGlyph network={network} />
        {networkName}
      </span>,
    ],
    ...(paidAt === null ? [] : [[t('receipt_time'), paidAt] as const]),
    ...(view.orderId === null ? [] : [[t('receipt_order'), view.orderId] as const]),
    ...(address === null ? [] : [[t('receipt_address'), <Exact key="address" text={address} />] as const]),
    ...transactions.map(
      (one): Row => [t('receipt_transaction'), <Transaction key={one.id} page={page} transaction={one} />],
    ),
  ];
  return <Rows rows={rows} />;
}

/** Where the payer has nothing to send: on the way, or over. */
export function End({ page, state }: { page: Page; state: EndState }) {
  const { view, t } = page;
  const store = view.storeName;
  const isReturned = view.details?.refunding != null || view.details?.refunded != null;
  const isTold = isReturned || view.notices.some(({ code }) => code === 'late' || code === 'incomplete');
  return (
    <>
      <Sign {...SIGNS[state]} />
      <div class="center">
        <h1 tabIndex={-1}>{t(`${state}_heading`)}</h1>
        <p class="quiet">{t(`${state}_text`, { store })}</p>
        {CALM.has(state) && view.notices.length === 0 ? null : (
          <Contact brand={view.brand} label={page.contactText} />
        )}
      </div>
      {state === 'confirming' ? <Confirmations page={page} /> : null}
      <Notices page={page} />
      <Details page={page} />
      {state === 'paid' ? <p class="quiet small">{t('receipt_keep')}</p> : null}
      {state === 'expired' && !isTold ? (
        <Note tone="plain" title={t('expired_sent_heading')}>
          {t('expired_sent_text', { store })}
        </Note>
      ) : null}
      {state === 'expired' ? <p class="small">{t('expired_next', { store })}</p> : null}
    </>
  );
}
