import type { TextKey } from '../texts.ts';
import type { Page } from './context.ts';
import { callOf } from './live.ts';

const PAYING = ['exact', 'less', 'more', 'wrong', 'frozen', 'late', 'reorg', 'expire'] as const;
const TIMED = new Set<string>(['late', 'expire']);

/** What makes sense to try where the payment stands. */
function actionsOf({ view }: Page): readonly (typeof PAYING)[number][] {
  switch (view.state) {
    case 'choose':
    case 'pay':
      // What has no end cannot be late.
      return view.secondsTotal === null ? PAYING.filter((action) => !TIMED.has(action)) : PAYING;
    case 'confirming':
      return ['reorg'];
    case 'expired':
    case 'canceled':
      return ['late'];
    case 'closing':
    case 'paid':
    case 'frozen':
    case 'over':
    case 'suspended':
      return [];
  }
}

/** In test mode: plays the payer. Its calls exist for sandbox merchants alone. */
export function Panel({ page }: { page: Page }) {
  const { view, token, t, submit, isBusy } = page;
  const actions = actionsOf(page);
  if (!view.isSimulated || actions.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="panel">
      <h2 id="panel">{t('panel_heading')}</h2>
      <p class="quiet small">{t('panel_text')}</p>
      <form class="grid" method="post" action={callOf(token, 'simulate', view.language)} onSubmit={submit}>
        {actions.map((action) => (
          <button class="plain" key={action} type="submit" name="action" value={action} disabled={isBusy}>
            {t(`panel_${action}` satisfies TextKey<'checkout'>)}
          </button>
        ))}
      </form>
    </section>
  );
}
