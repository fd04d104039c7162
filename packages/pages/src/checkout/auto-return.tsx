import { useEffect, useState } from 'preact/hooks';
import { localeOf } from '../written.ts';
import { linkTo, type Page } from './context.ts';

const SECONDS = 5;

/** Leads back to the store after a few seconds, unless the payer stays. Without script nothing leaves by itself. */
export function AutoReturn({ page, url }: { page: Page; url: string }) {
  const { view, t, isLive } = page;
  const [left, setLeft] = useState(SECONDS);
  const [isStopped, setStopped] = useState(false);
  const isRunning = isLive && !isStopped;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  useEffect(() => {
    if (isRunning && left <= 0) location.assign(url);
  }, [left, isRunning]);
  if (!isRunning) return null;
  const stop = () => {
    setStopped(true);
    // A page that is loaded again stays, too.
    history.replaceState(null, '', linkTo({ view, isAutoReturn: false }, null));
  };
  const format = new Intl.NumberFormat(localeOf(view.language), {
    style: 'unit',
    unit: 'second',
    unitDisplay: 'long',
  });
  return (
    <div class="note center">
      <p>{t('auto_return', { store: view.storeName, time: format.format(Math.max(0, left)) })}</p>
      <button type="button" class="plain" onClick={stop}>
        {t('auto_stay')}
      </button>
    </div>
  );
}
