import { LeaveLink, Note } from '../design/parts.tsx';
import type { Translate } from '../texts.ts';
import { AutoReturn } from './auto-return.tsx';
import { Choose } from './choose.tsx';
import type { Page } from './context.ts';
import { End } from './ends.tsx';
import { Order } from './order.tsx';
import { Panel } from './panel.tsx';
import { Pay } from './pay.tsx';
import { WalletStatus } from './wallet/wallets.tsx';

function Content({ page }: { page: Page }) {
  const { view, choosing } = page;
  const { state, due } = view;
  switch (state) {
    case 'choose':
      return <Choose page={page} />;
    case 'pay':
      if (due === null || (choosing !== null && view.canChoose)) return <Choose page={page} />;
      // Another address is another form, which nothing of the old one outlives.
      return <Pay key={due.address} page={page} due={due} />;
    case 'confirming':
    case 'closing':
    case 'paid':
    case 'expired':
    case 'canceled':
    case 'frozen':
    case 'over':
    case 'suspended':
      return <End key={state} page={page} state={state} />;
  }
}

function Return({ page }: { page: Page }) {
  const { view, t, isAutoReturn } = page;
  const { returnUrl, storeName: store, state, canChoose } = view;
  if (returnUrl === null) return null;
  if (state === 'paid') {
    return (
      <>
        <LeaveLink href={returnUrl} isMain text={t('return_paid', { store })} />
        {isAutoReturn ? <AutoReturn page={page} url={returnUrl} /> : null}
      </>
    );
  }
  const isOpen = canChoose || state === 'pay';
  return <LeaveLink href={returnUrl} isMain={false} text={t(isOpen ? 'return' : 'return_over', { store })} />;
}

function Tampered({ t }: { t: Translate<'checkout'> }) {
  return (
    <section class="card" role="alert">
      <div class="note bad">
        <h1 tabIndex={-1}>{t('tampered_heading')}</h1>
        {t('tampered_text')}
      </div>
    </section>
  );
}

export interface PageProps {
  page: Page;
  /** Said by screen readers, seen by nobody. */
  said?: string;
  /** Shown where something went wrong: a form, the connection. */
  trouble?: string;
  isTampered?: boolean;
}

export function CheckoutPage({ page, said = '', trouble = '', isTampered = false }: PageProps) {
  const { view, t, testText } = page;
  return (
    <>
      {view.isTest ? <p class="test">{testText}</p> : null}
      <Order page={page} />
      <div class="paying">
        {isTampered ? (
          <Tampered t={t} />
        ) : (
          <section class="card">
            {trouble === '' ? null : <Note tone="warn">{trouble}</Note>}
            <Content page={page} />
            {view.state === 'pay' ? null : <WalletStatus page={page} />}
            <Return page={page} />
          </section>
        )}
        {/* Other actions are another panel: what stays in the document must not move when the payment is seen. */}
        <Panel key={view.state} page={page} />
      </div>
      <p class="unseen" role="status" aria-live="polite">
        {said}
      </p>
    </>
  );
}
