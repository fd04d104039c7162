import { RadioOption } from '../design/parts.tsx';
import type { Page } from './context.ts';
import { Notices } from './notices.tsx';

export function Choose({ page }: { page: Page }) {
  const { view, t, isBusy, submit } = page;
  return (
    <>
      <h1 tabIndex={-1}>{t('title_choose', { price: view.price })}</h1>
      <Subject page={page} />
      <Notices page={page} />
      <form method="post" onSubmit={submit}>
        <fieldset>
          <legend>{t('choose_heading')}</legend>
          <p class="quiet small">{t('choose_help')}</p>
          {view.options.map((option) => (
            <RadioOption
              key={option.value}
              value={option.value}
              isChosen={option.isChosen || view.options.length === 1}
              title={t('option', { token: option.token, network: option.networkName })}
            >
              <span class="quiet small">{t(`hint_${option.hint}`)}</span>
            </RadioOption>
          ))}
        </fieldset>
        <button type="submit" disabled={isBusy}>
          {t('continue')}
        </button>
      </form>
    </>
  );
}

/** What is paid for. */
export function Subject({ page }: { page: Page }) {
  const { description, orderId, period } = page.view;
  if (description === null && orderId === null && period === null) return null;
  return (
    <div class="subject quiet">
      {description === null ? null : <p dir="auto">{description}</p>}
      {period === null ? null : <p class="small">{page.t('period', { period })}</p>}
      {orderId === null ? null : <p class="small">{page.t('order', { id: orderId })}</p>}
    </div>
  );
}
