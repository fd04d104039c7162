import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PAGE_LANGUAGES } from '@florin/contract/checkout-page';
import { expect, test } from 'vitest';

const FOLDER = path.resolve(import.meta.dirname, '..', 'locales');
const read = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(FOLDER, `${language}.json`), 'utf8'));
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

const english = read('en');

test('each language of the page has a catalogue, and each catalogue is a language of the page', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
  expect(files.toSorted()).toEqual([...PAGE_LANGUAGES].toSorted());
});

test.each(PAGE_LANGUAGES)('the catalogue of %s has every text, with what is put into it', (language) => {
  const catalogue = read(language);
  expect(Object.keys(catalogue)).toEqual(Object.keys(english));
  for (const [key, text] of Object.entries(catalogue)) {
    expect(text.trim(), key).not.toBe('');
    expect(placeholders(text), key).toEqual(placeholders(english[key] ?? ''));
  }
});
