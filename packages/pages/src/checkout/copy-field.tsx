import { useEffect, useState } from 'preact/hooks';
import type { Page } from './context.ts';

const SHOWN_MS = 2_500;

interface Field {
  page: Page;
  name: string;
  /** What is copied: out of the view, never what the document shows by then. */
  value: string;
  shown?: string;
  kind: 'amount' | 'address';
}

/** For browsers and pages without the clipboard of today. */
function copyOld(text: string): void {
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

export function CopyField({ page, name, value, shown = value, kind }: Field) {
  const { t, isLive, say } = page;
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard?.writeText(value).catch(() => copyOld(value));
    if (navigator.clipboard === undefined) copyOld(value);
    setCopied(true);
    say(t(kind === 'address' ? 'address_copied' : 'amount_copied'));
  };
  return (
    <div class="field">
      <span class="name" id={`name-${kind}`}>
        {name}
      </span>
      <bdi class={`value ${kind}`} dir="ltr" translate={false} data-exact={kind}>
        {shown}
      </bdi>
      <button
        type="button"
        // Its room is kept before the script runs, so that nothing moves then.
        class={[isLive ? '' : 'later', isCopied ? 'done' : ''].join(' ').trim()}
        aria-label={t(kind === 'address' ? 'copy_address' : 'copy_amount')}
        onClick={() => void copy()}
      >
        {t(isCopied ? 'copied' : 'copy')}
      </button>
    </div>
  );
}
