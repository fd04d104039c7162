import { directionOf, type PageLanguage } from '@florin/contract/checkout-page';
import type en from '../../locales/en.json';
import type { Words } from '../renderer.ts';

export type WordKey = keyof typeof en;
/** A text of the catalogue with what belongs into it. */
export type Translate = (key: WordKey, values?: Readonly<Record<string, string | number>>) => string;

/** Around what is put into a text written from right to left, so that its own direction does not tear it apart. */
const ISOLATE = '\u2068';
const END_ISOLATE = '\u2069';

export function translator(words: Words, language: PageLanguage): Translate {
  const isMirrored = directionOf(language) === 'rtl';
  return (key, values = {}) =>
    (words[key] ?? key).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(values[name] ?? '');
      return isMirrored ? `${ISOLATE}${value}${END_ISOLATE}` : value;
    });
}
