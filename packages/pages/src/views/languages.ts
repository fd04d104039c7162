/** Languages of the pages; the first is the fallback. Each has a file in `locales`. */
export const PAGE_LANGUAGES = ['en', 'es', 'ar', 'de', 'fr', 'pt-BR', 'zh-Hans', 'ja', 'tr'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Record<PageLanguage, string> = {
  en: 'English',
  es: 'Español',
  ar: 'العربية',
  de: 'Deutsch',
  fr: 'Français',
  'pt-BR': 'Português',
  'zh-Hans': '简体中文',
  ja: '日本語',
  tr: 'Türkçe',
};

const baseOf = (tag: string) => tag.toLowerCase().split('-', 1)[0];

/** The language of a browser's tag, such as `de-AT` or `pt`; undefined where there is none. Each is there in one form. */
export const languageOfTag = (tag: string): PageLanguage | undefined =>
  PAGE_LANGUAGES.find((language) => baseOf(language) === baseOf(tag));

/** The language of that name, else the fallback. */
export const pageLanguageOf = (text: string | null | undefined): PageLanguage =>
  PAGE_LANGUAGES.find((language) => language === text) ?? PAGE_LANGUAGES[0];

export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
