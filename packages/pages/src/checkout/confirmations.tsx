import type { Page } from './context.ts';

export function Confirmations({ page: { view, t } }: { page: Page }) {
  if (view.confirmations === null) return null;
  const { count, needed } = view.confirmations;
  const text = t('confirmations', { count, needed });
  return (
    <p class="center">
      <span class="small" id="confirmations">
        {text}
      </span>
      <progress max={needed} value={count} aria-labelledby="confirmations" />
    </p>
  );
}
