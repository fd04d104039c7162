import { NetworkGlyph, TokenGlyph } from '../design/glyphs.tsx';
import { Contact, Hidden, Note, Qr } from '../design/parts.tsx';
import type { PageDue } from '../views/checkout.ts';
import { StepLink } from './choose.tsx';
import { Confirmations } from './confirmations.tsx';
import type { Page } from './context.ts';
import { CopyField } from './copy-field.tsx';
import { Countdown } from './countdown.tsx';
import { useGuard } from './guard.ts';
import { callOf } from './live.ts';
import { Notices } from './notices.tsx';
import { FoundWallets } from './wallet/wallets.tsx';
import { walletsOf } from './wallets.ts';

/** The wallet's link, below its warning, and the same as a code for the wallet of another device. */
function Rich({ page, rich }: { page: Page; rich: NonNullable<PageDue['rich']> }) {
  const { t } = page;
  return (
    <details class="gap">
      <summary>{t('rich_summary')}</summary>
      <Note tone="warn">{t('rich_warning')}</Note>
      <a class="button plain gap" href={rich.uri}>
        {t('rich_open')}
      </a>
      <Qr code={rich.qr} label={t('rich_summary')} />
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

/** What is sent, and where: copied first, as a phone cannot scan its own screen. */
function Where({ page, due }: { page: Page; due: PageDue }) {
  const { t, onTampered } = page;
  const box = useGuard(due, onTampered);
  return (
    <div ref={box} class="where">
      <CopyField
        page={page}
        kind="amount"
        name={t('amount')}
        value={due.amount}
        shown={`${due.amount}\u00a0${due.token}`}
      />
      <CopyField
        page={page}
        kind="address"
        name={t('address', { network: due.networkName })}
        value={due.address}
      />
      <p class="small quiet">{t('only_this', { token: due.token, network: due.networkName })}</p>
      <Wallets page={page} />
      <FoundWallets page={page} />
      {due.rich === null ? null : <Rich page={page} rich={due.rich} />}
      <div class="scan">
        <div data-exact="code">
          <Qr code={due.qr} label={t('qr_label')} />
        </div>
        <p class="small quiet center">{t('scan_or_copy')}</p>
      </div>
    </div>
  );
}

export function Pay({ page, due }: { page: Page; due: PageDue }) {
  const { view, t } = page;
  const amount = `${due.amount}\u00a0${due.token}`;
  const isRest = view.notices.some(({ code }) => code === 'underpaid');
  return (
    <>
      <h1 tabIndex={-1}>{t(isRest ? 'rest_heading' : 'pay_heading', { amount })}</h1>
      <p class="chip">
        <TokenGlyph token={due.token} />
        <NetworkGlyph network={due.network} />
        <span>{t('option', { token: due.token, network: due.networkName })}</span>
        {view.canChoose ? (
          <StepLink page={page} to={{ token: null }}>
            {t('another_way')}
          </StepLink>
        ) : null}
      </p>
      <Notices page={page} />
      {view.notices.some(({ code }) => code === 'wrong_token') ? (
        <Contact brand={view.brand} label={page.contactText} />
      ) : null}
      <Confirmations page={page} />
      <Where page={page} due={due} />
      <Countdown page={page} />
      <p class="center small">
        <span class="dot pulse" aria-hidden="true" />
        {t('waiting')}
      </p>
      <p class="quiet small">
        {due.rate === null ? null : (
          <>
            <bdi>{view.price}</bdi> · <bdi dir="ltr">{due.rate}</bdi>
            <br />
          </>
        )}
        {t('exchange')}
      </p>
    </>
  );
}
