import { PAGE_LANGUAGES } from '@florin/contract/checkout-page';
import { expect, test } from 'vitest';
import ar from './locales/ar.json' with { type: 'json' };
import en from './locales/en.json' with { type: 'json' };
import es from './locales/es.json' with { type: 'json' };

const CATALOGUES: Record<string, Record<string, string>> = { en, es, ar };
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

test.each(PAGE_LANGUAGES)('the catalogue of %s has every text, with what is put into it', (language) => {
  const catalogue = CATALOGUES[language] ?? {};
  expect(Object.keys(catalogue)).toEqual(Object.keys(en));
  for (const [key, text] of Object.entries(catalogue)) {
    expect(text.trim(), key).not.toBe('');
    expect(placeholders(text), key).toEqual(placeholders(en[key as keyof typeof en]));
  }
});
