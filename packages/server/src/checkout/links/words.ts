import type { PageLanguage } from '@florin/contract/checkout-page';
import ar from './locales/ar.json' with { type: 'json' };
import en from './locales/en.json' with { type: 'json' };
import es from './locales/es.json' with { type: 'json' };

export type Word = keyof typeof en;
const CATALOGUES: Record<PageLanguage, Record<Word, string>> = { en, es, ar };

/** A name in another script must not turn around what stands beside it. */
const isolated = (text: string) => `\u2068${text}\u2069`;

/** A text of a link's page; `{name}` stands for a value. */
export function say(
  language: PageLanguage,
  word: Word,
  values: Readonly<Record<string, string>> = {},
): string {
  return CATALOGUES[language][word].replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] === undefined ? whole : isolated(values[name]),
  );
}
