import ar from '../locales/ar.json';
import de from '../locales/de.json';
import en from '../locales/en.json';
import es from '../locales/es.json';
import fr from '../locales/fr.json';
import ja from '../locales/ja.json';
import ptBr from '../locales/pt-BR.json';
import tr from '../locales/tr.json';
import zhHans from '../locales/zh-Hans.json';
import { type Catalogue, type Section, type Texts, type Translate, translator } from './texts.ts';
import type { PageLanguage } from './views/languages.ts';

/** Sections of pages for developers, which are in English whatever the reader's language. */
export const ENGLISH_ONLY = ['front', 'inbox', 'mails', 'live'] as const;

type Translated = Omit<Catalogue, (typeof ENGLISH_ONLY)[number]>;

const withEnglish = (own: Translated): Catalogue => ({ ...en, ...own });
const CATALOGUES: Record<PageLanguage, Catalogue> = {
  en,
  es: withEnglish(es),
  ar: withEnglish(ar),
  de: withEnglish(de),
  fr: withEnglish(fr),
  'pt-BR': withEnglish(ptBr),
  'zh-Hans': withEnglish(zhHans),
  ja: withEnglish(ja),
  tr: withEnglish(tr),
};

/** A section of the language's catalogue; English where the section has no translations. */
export function textsOf<S extends Section>(section: S, language: PageLanguage): Texts<S> {
  return CATALOGUES[language][section];
}

export function translatorOf<S extends Section>(section: S, language: PageLanguage): Translate<S> {
  return translator(textsOf(section, language), language);
}
