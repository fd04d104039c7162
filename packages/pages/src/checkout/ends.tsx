import type { ComponentProps } from 'preact';
import { Exact, Note, type Row, Rows, Sign } from '../design/parts.tsx';
import type { PageState } from '../views/checkout.ts';
import { Subject } from './choose.tsx';
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

function Receipt({ page: { view, t } }: { page: Page }) {
  if (view.receipt === null) return null;
  const { received, networkName, paidAt, txIds } = view.receipt;
  const rows: Row[] = [
    [t('receipt_price'), view.price],
    [t('receipt_received'), received],
    [t('network'), networkName],
    [t('receipt_time'), paidAt],
    ...(view.orderId === null ? [] : [[t('receipt_order'), view.orderId] as const]),
    ...txIds.map((id): Row => [t('receipt_transaction'), <Exact key={id} text={id} />]),
  ];
  return (
    <>
      <Rows rows={rows} />
      <p class="quiet small">{t('receipt_keep')}</p>
    </>
  );
}

/** Where the payer has nothing to send: on the way, or over. */
export function End({ page, state }: { page: Page; state: EndState }) {
  const { view, t } = page;
  const store = view.storeName;
  return (
    <>
      <Sign {...SIGNS[state]} />
      <div class="center">
        <h1 tabIndex={-1}>{t(`${state}_heading`)}</h1>
        <p class="quiet">{t(`${state}_text`, { store })}</p>
      </div>
      {state === 'confirming' ? <Confirmations page={page} /> : null}
      <Notices page={page} />
      {state === 'expired' && !view.notices.some(({ code }) => code === 'late' || code === 'incomplete') ? (
        <Note tone="plain" title={t('expired_sent_heading')}>
          {t('expired_sent_text', { store })}
        </Note>
      ) : null}
      {state === 'paid' ? (
        <Receipt page={page} />
      ) : (
        <div class="center">
          <Subject page={page} />
        </div>
      )}
    </>
  );
}
