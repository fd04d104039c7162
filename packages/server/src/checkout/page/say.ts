import type { PageLanguage } from '@florin/contract/checkout-page';

/** A name in another script must not turn around what stands beside it. */
const isolated = (text: string) => `\u2068${text}\u2069`;

export type Say<W extends string> = (
  language: PageLanguage,
  word: W,
  values?: Readonly<Record<string, string>>,
) => string;

/** Texts of a page out of its catalogues; `{name}` stands for a value. */
export function sayFrom<W extends string>(catalogues: Record<PageLanguage, Record<W, string>>): Say<W> {
  return (language, word, values = {}) =>
    catalogues[language][word].replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
      values[name] === undefined ? whole : isolated(values[name]),
    );
}
