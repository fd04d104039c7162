import { StoreHead } from '../design/parts.tsx';
import { ROOT } from '../design/root.ts';
import type { Page } from './context.ts';

/** Who is paid, how much, and what for: beside the payment on a wide screen, above it on a phone. */
export function Order({ page: { view, t } }: { page: Page }) {
  const { price, description, orderId, period } = view;
  return (
    <section class="order" aria-label={t('order_summary')}>
      <StoreHead store={view} root={ROOT} />
      <p class="price">
        <bdi>{price}</bdi>
      </p>
      {description === null && orderId === null && period === null ? null : (
        <div class="subject quiet">
          {description === null ? null : (
            <p>
              <bdi>{description}</bdi>
            </p>
          )}
          {period === null ? null : <p class="small">{t('period', { period })}</p>}
          {orderId === null ? null : <p class="small">{t('order', { id: orderId })}</p>}
        </div>
      )}
    </section>
  );
}
