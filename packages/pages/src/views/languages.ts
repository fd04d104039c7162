/** Languages of the pages; the first is the fallback. Each has a file in `locales`. */
export const PAGE_LANGUAGES = ['en', 'es', 'ar'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Record<PageLanguage, string> = { en: 'English', es: 'Español', ar: 'العربية' };

export function isPageLanguage(text: string): text is PageLanguage {
  return PAGE_LANGUAGES.some((language) => language === text);
}

/** The language of that name, else the fallback. */
export const pageLanguageOf = (text: string | null | undefined): PageLanguage =>
  PAGE_LANGUAGES.find((language) => language === text) ?? PAGE_LANGUAGES[0];

export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
