import type en from '../locales/en.json';
import { directionOf, type PageLanguage } from './views/languages.ts';

type English = typeof en;
/** A part of the catalogue: the texts of one kind of page. */
export type Section = keyof English;
export type TextKey<S extends Section> = keyof English[S] & string;

/** The texts of a section in one language, with `{name}` for each value. */
export type Texts<S extends Section> = Readonly<Record<TextKey<S>, string>>;

/** All texts of one language. */
export type Catalogue = { readonly [S in Section]: Texts<S> };

/** A text of a section with its values. */
export type Translate<S extends Section> = (
  key: TextKey<S>,
  values?: Readonly<Record<string, string | number>>,
) => string;

/** Around a value, so that its own direction does not reorder the text beside it. */
const ISOLATE = '\u2068';
const END_ISOLATE = '\u2069';
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** The one way to translate, in the server and in the browser. */
export function translator<S extends Section>(texts: Texts<S>, language: PageLanguage): Translate<S> {
  const isMirrored = directionOf(language) === 'rtl';
  return (key, values = {}) =>
    texts[key].replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(values[name] ?? '');
      return isMirrored || RIGHT_TO_LEFT.test(value) ? `${ISOLATE}${value}${END_ISOLATE}` : value;
    });
}

/** The pieces of a text whose values are elements. */
export function withElements<E>(text: string, elements: Readonly<Record<string, E>>): (E | string)[] {
  return text.split(/\{(\w+)\}/).map((piece, i) => (i % 2 === 0 ? piece : (elements[piece] ?? '')));
}
