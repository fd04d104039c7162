import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ENGLISH_ONLY } from './catalogues.ts';
import { PAGE_LANGUAGES } from './views/languages.ts';

const FOLDER = path.resolve(import.meta.dirname, '..', 'locales');
const read = (language: string): Record<string, Record<string, string>> =>
  JSON.parse(readFileSync(path.join(FOLDER, `${language}.json`), 'utf8'));
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
const isTranslated = (section: string) => !ENGLISH_ONLY.some((one) => one === section);

const english = read('en');

test('each language of the pages has a catalogue, and each catalogue is a language of the pages', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
  expect(files.toSorted()).toEqual([...PAGE_LANGUAGES].toSorted());
});

test.each([...PAGE_LANGUAGES])('the catalogue of %s has every text, with all its values', (language) => {
  const catalogue = read(language);
  const sections = Object.keys(english).filter((section) => language === 'en' || isTranslated(section));
  expect(Object.keys(catalogue)).toEqual(sections);
  for (const section of sections) {
    const texts = catalogue[section] ?? {};
    expect(Object.keys(texts), section).toEqual(Object.keys(english[section] ?? {}));
    for (const [key, text] of Object.entries(texts)) {
      expect(text.trim(), key).not.toBe('');
      expect(placeholders(text), key).toEqual(placeholders(english[section]?.[key] ?? ''));
    }
  }
});
