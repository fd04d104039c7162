import { Choose } from './choose.tsx';
import type { Page } from './context.ts';
import { End } from './ends.tsx';
import { Panel } from './panel.tsx';
import { Pay } from './pay.tsx';
import type { Translate } from './words.ts';

function Content({ page }: { page: Page }) {
  const { view, isChoosing } = page;
  const { state, due } = view;
  switch (state) {
    case 'choose':
      return <Choose page={page} />;
    case 'pay':
      if (due === null || (isChoosing && view.canChoose)) return <Choose page={page} />;
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
      return <End page={page} state={state} />;
  }
}

function Return({ page: { view, t } }: { page: Page }) {
  if (view.returnUrl === null) return null;
  const store = view.storeName;
  if (view.state === 'paid') {
    return (
      <p class="leave">
        <a class="button" href={view.returnUrl} rel="noreferrer">
          {t('return_paid', { store })}
        </a>
      </p>
    );
  }
  const isOpen = view.canChoose || view.state === 'pay';
  return (
    <p class="center leave">
      <a href={view.returnUrl} rel="noreferrer">
        {t(isOpen ? 'return' : 'return_over', { store })}
      </a>
    </p>
  );
}

function Tampered({ t }: { t: Translate }) {
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
  const { view, t } = page;
  const [first = ''] = Array.from(view.storeName.trim());
  return (
    <>
      {view.isTest ? <p class="test">{t('test_mode')}</p> : null}
      <div class="top">
        <span class="mark" aria-hidden="true">
          {first.toUpperCase()}
        </span>
        <span class="store" dir="auto">
          {view.storeName}
        </span>
      </div>
      {isTampered ? (
        <Tampered t={t} />
      ) : (
        <section class="card">
          {trouble === '' ? null : <p class="note warn">{trouble}</p>}
          <Content page={page} />
          <Return page={page} />
        </section>
      )}
      <Panel page={page} />
      <p class="unseen" role="status" aria-live="polite">
        {said}
      </p>
    </>
  );
}
