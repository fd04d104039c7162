const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one);

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
};

/** HTML without its tags. */
function untagged(html: string): string {
  const [before = '', ...parts] = html.split('<');
  return [before, ...parts.map((part) => part.slice(part.indexOf('>') + 1))].join(' ');
}

/** The text of HTML of ours, which has no script and no comment. */
export const textOf = (html: string) =>
  untagged(html)
    .replace(/&(#?\w{1,8});/g, (whole, name: string) => NAMED[name] ?? whole)
    .split(/\s/)
    .filter((word) => word !== '')
    .join(' ');

/** What is between the first of one text and the first of another after it; nothing where one is missing. */
export function between(text: string, before: string, after: string): string {
  const start = text.indexOf(before);
  const end = text.indexOf(after, start);
  return start < 0 || end < 0 ? '' : text.slice(start + before.length, end);
}
