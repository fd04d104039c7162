import { useEffect, useState } from 'preact/hooks';
import type { Page } from './context.ts';

const SHORT_SHARE = 1 / 4;

/** Hours, minutes or `7:05`, in the manner of the language and with the digits of the West. */
function timeText(seconds: number, language: string, isShort: boolean): string {
  const locale = `${language}-u-nu-latn`;
  if (isShort) {
    const rest = String(Math.floor(seconds % 60)).padStart(2, '0');
    return `${Math.floor(seconds / 60)}:${rest}`;
  }
  const isHours = seconds > 2 * 3600;
  const unit = isHours ? 'hour' : 'minute';
  const count = Math.ceil(seconds / (isHours ? 3600 : 60));
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** Quiet, in minutes, until a quarter of the time is left; then by the second, and said aloud once. */
export function Countdown({ page }: { page: Page }) {
  const { view, since, isLive, t, say } = page;
  const { secondsLeft, secondsTotal, language } = view;
  const [now, setNow] = useState(since);
  useEffect(() => {
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, (secondsLeft ?? 0) - (isLive ? Math.max(0, now - since) / 1000 : 0));
  const isShort = secondsTotal !== null && left <= secondsTotal * SHORT_SHARE;
  const time = timeText(left, language, isShort);
  useEffect(() => {
    if (isShort && isLive) say(t('time_short', { time }));
  }, [isShort, isLive]);
  if (secondsLeft === null) return null;
  if (!isShort) return <p class="quiet small center">{t('time_left', { time })}</p>;
  return (
    <p class="note warn center" role="timer" aria-live="off">
      <b>{t('time_short', { time })}</b>
    </p>
  );
}
