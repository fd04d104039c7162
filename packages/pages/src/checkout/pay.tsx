import { Hidden, Note, Qr } from '../design/parts.tsx';
import type { PageDue } from '../views/checkout.ts';
import { Subject } from './choose.tsx';
import { Confirmations } from './confirmations.tsx';
import type { Page } from './context.ts';
import { CopyField } from './copy-field.tsx';
import { Countdown } from './countdown.tsx';
import { useGuard } from './guard.ts';
import { callOf } from './live.ts';
import { Notices } from './notices.tsx';
import { walletsOf } from './wallets.ts';

function Rich({ page, rich }: { page: Page; rich: NonNullable<PageDue['rich']> }) {
  const { t } = page;
  return (
    <details>
      <summary>{t('rich_summary')}</summary>
      <Note tone="warn">{t('rich_warning')}</Note>
      <Qr code={rich.qr} label={t('rich_summary')} />
      <a class="button plain" href={rich.uri}>
        {t('rich_open')}
      </a>
    </details>
  );
}

function Wallets({ page }: { page: Page }) {
  const { view, token, t, submit, isBusy } = page;
  return (
    <>
      {walletsOf(view).map((wallet) => (
        <form
          key={wallet.id}
          method="post"
          action={callOf(token, wallet.call, view.language)}
          onSubmit={submit}
        >
          <Hidden fields={wallet.fields} />
          <button class="gap" type="submit" disabled={isBusy}>
            {t(isBusy ? 'wallet_busy' : wallet.label)}
          </button>
        </form>
      ))}
    </>
  );
}

export function Pay({ page, due }: { page: Page; due: PageDue }) {
  const { view, t, choose, onTampered } = page;
  const box = useGuard(due, onTampered);
  const amount = `${due.amount}\u00a0${due.token}`;
  const isRest = view.notices.some(({ code }) => code === 'underpaid');
  const another = (event: Event) => {
    event.preventDefault();
    choose(true);
  };
  return (
    <>
      <h1 tabIndex={-1}>{t(isRest ? 'rest_heading' : 'pay_heading', { amount })}</h1>
      {due.rate === null ? null : (
        <p class="quiet small">
          <bdi>{view.price}</bdi> · <bdi dir="ltr">{due.rate}</bdi>
        </p>
      )}
      <Subject page={page} />
      <Notices page={page} />
      <Confirmations page={page} />
      <div ref={box}>
        <div data-exact="code">
          <Qr code={due.qr} label={t('qr_label')} />
        </div>
        <p class="small center">{t('scan_or_copy')}</p>
        <CopyField page={page} kind="amount" name={t('amount')} value={due.amount} shown={amount} />
        <CopyField
          page={page}
          kind="address"
          name={t('address', { network: due.networkName })}
          value={due.address}
        />
      </div>
      <Note tone="warn">{t('only_this', { token: due.token, network: due.networkName })}</Note>
      <Countdown page={page} />
      <Wallets page={page} />
      <p class="quiet small">{t('exchange')}</p>
      <p class="center small">
        <span class="dot pulse" aria-hidden="true" />
        {t('waiting')}
      </p>
      {due.rich === null ? null : <Rich page={page} rich={due.rich} />}
      {view.canChoose ? (
        <p class="center">
          <a href={`?lang=${view.language}&choose=1`} onClick={another}>
            {t('another_way')}
          </a>
        </p>
      ) : null}
    </>
  );
}
