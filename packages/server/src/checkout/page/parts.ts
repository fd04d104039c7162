import { escapeHtml } from '../../platform/http/index.ts';

// HTML that pages for payers share.

const SIGNS = {
  good: '<path d="M4 12.5l5.5 5.5L20 7"/>',
  wait: '<path d="M12 6v6l4 3"/><circle cx="12" cy="12" r="9.5"/>',
  bad: '<path d="M6 6l12 12M18 6L6 18"/>',
};
export type SignKind = keyof typeof SIGNS;

/** A mark above a heading that says the same. */
export function sign(kind: SignKind): string {
  const tone = kind === 'wait' ? '' : ` ${kind}`;
  return `<div class="sign${tone}" aria-hidden="true"><svg viewBox="0 0 24 24">${SIGNS[kind]}</svg></div>`;
}

/** A text that keeps its own direction. */
export const bdi = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`;

/** An address or id, to be compared character by character. */
export const exact = (text: string) => `<bdi class="address">${escapeHtml(text)}</bdi>`;

/** Names with values; values are HTML. */
export function rowsHtml(rows: readonly (readonly [name: string, html: string])[]): string {
  const all = rows.map(([name, html]) => `<div><dt>${escapeHtml(name)}</dt><dd>${html}</dd></div>`);
  return `<dl class="rows">${all.join('')}</dl>`;
}
