import type { PageState } from '@florin/contract/checkout-page';
import { Subject } from './choose.tsx';
import { Confirmations } from './confirmations.tsx';
import type { Page } from './context.ts';
import { Notices } from './notices.tsx';

type EndState = Exclude<PageState, 'choose' | 'pay'>;

const SIGNS: Record<EndState, { look: string; path: string }> = {
  confirming: { look: 'pulse', path: 'M12 6v6l4 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z' },
  closing: { look: 'pulse', path: 'M12 6v6l4 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z' },
  paid: { look: 'good', path: 'M5 13l4.5 4.5L19 7' },
  expired: { look: 'warn', path: 'M12 7v6M12 17v.01' },
  canceled: { look: 'warn', path: 'M7 7l10 10M17 7L7 17' },
  over: { look: 'warn', path: 'M7 12h10' },
  frozen: { look: 'warn', path: 'M9 7v10M15 7v10' },
  suspended: { look: 'warn', path: 'M9 7v10M15 7v10' },
};

function Receipt({ page: { view, t } }: { page: Page }) {
  if (view.receipt === null) return null;
  const { received, networkName, paidAt, txIds } = view.receipt;
  const rows: [string, string, string?][] = [
    [t('receipt_price'), view.price],
    [t('receipt_received'), received],
    [t('network'), networkName],
    [t('receipt_time'), paidAt],
    ...(view.orderId === null ? [] : [[t('receipt_order'), view.orderId] as [string, string]]),
    ...txIds.map((id): [string, string, string] => [t('receipt_transaction'), id, 'id']),
  ];
  return (
    <>
      <dl class="rows">
        {rows.map(([name, value, look = '']) => (
          <div key={`${name}${value}`}>
            <dt>{name}</dt>
            <dd>
              <bdi class={look}>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet small">{t('receipt_keep')}</p>
    </>
  );
}

/** Where the payer has nothing to send: on the way, or over. */
export function End({ page, state }: { page: Page; state: EndState }) {
  const { view, t } = page;
  const store = view.storeName;
  const { look, path } = SIGNS[state];
  return (
    <>
      <div class={`sign ${look}`}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={path} />
        </svg>
      </div>
      <div class="center">
        <h1 tabIndex={-1}>{t(`${state}_heading`)}</h1>
        <p class="quiet">{t(`${state}_text`, { store })}</p>
      </div>
      {state === 'confirming' ? <Confirmations page={page} /> : null}
      <Notices page={page} />
      {state === 'expired' && !view.notices.some(({ code }) => code === 'late' || code === 'incomplete') ? (
        <div class="note">
          <b>{t('expired_sent_heading')}</b>
          {t('expired_sent_text', { store })}
        </div>
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
