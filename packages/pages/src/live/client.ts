import { translator } from '../texts.ts';
import type { LiveData } from './live-list.tsx';

// Runs in the browser: fetches the page's list each second and replaces only the blocks that have changed, so that opened
// details and the focus stay. The list is HTML that the server has escaped.

const EVERY_MS = 1_000;

const { texts, listPath }: LiveData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const t = translator(texts, 'en');

function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

const list = elementOf('list');
const status = elementOf('status');
let etag = '';
let isAway = false;

function say(text: string): void {
  if (status.textContent !== text) status.textContent = text;
}

/** Puts a block in the place of its earlier version, with the same details open and the same focus. */
function replace(before: Element, next: Element): void {
  for (const { id } of before.querySelectorAll('details[open]')) {
    next.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
  }
  const focused = before.contains(document.activeElement) ? document.activeElement?.id : '';
  before.replaceWith(next);
  if (focused) document.getElementById(focused)?.focus();
}

const versionOf = (block: Element) => block.getAttribute('data-version');

/** @returns how many events are new */
function update(html: string): number {
  const known = new Map([...list.children].map((block) => [block.id, block]));
  const blocks = [...new DOMParser().parseFromString(html, 'text/html').body.children];
  let fresh = 0;
  let place = list.firstElementChild;
  for (const next of blocks) {
    const before = known.get(next.id);
    known.delete(next.id);
    let block = before ?? next;
    if (before === undefined && next.classList.contains('event')) fresh++;
    if (before !== undefined && versionOf(before) !== versionOf(next)) {
      if (place === before) place = next;
      replace(before, next);
      block = next;
    }
    if (place === block) place = place.nextElementSibling;
    else list.insertBefore(block, place);
  }
  for (const block of known.values()) block.remove();
  return fresh;
}

async function poll(): Promise<void> {
  if (document.hidden) return;
  try {
    const headers: Record<string, string> = etag === '' ? {} : { 'if-none-match': etag };
    const answer = await fetch(listPath, { headers });
    if (answer.status === 304) {
      if (isAway) say(t('live'));
      isAway = false;
      return;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = update(await answer.text());
    const isFirst = etag === '';
    etag = answer.headers.get('etag') ?? '';
    isAway = false;
    const time = new Date().toLocaleTimeString();
    if (isFirst) say(t('live_first'));
    else say(fresh === 0 ? t('live_changed', { time }) : t('live_new', { count: fresh, time }));
  } catch {
    isAway = true;
    say(t('away'));
  }
}

async function pollOn(): Promise<void> {
  await poll();
  setTimeout(() => void pollOn(), EVERY_MS);
}

const COPIED_MS = 2_500;

/** Without a script, or a clipboard, a text to copy is selected as a whole. */
function offerToCopy(button: Element): void {
  const { textContent: name } = button;
  button.removeAttribute('hidden');
  const copy = async () => {
    await navigator.clipboard.writeText(elementOf(button.getAttribute('data-copies') ?? '').textContent);
    button.textContent = t('copied');
    setTimeout(() => {
      button.textContent = name;
    }, COPIED_MS);
  };
  button.addEventListener('click', () => void copy());
}

// Browsers offer the clipboard to secure origins, which loopback addresses are.
if (navigator.clipboard !== undefined) document.querySelectorAll('[data-copies]').forEach(offerToCopy);
void pollOn();
