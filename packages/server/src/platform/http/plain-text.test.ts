import { expect, test } from 'vitest';
import { isPlainText } from './plain-text.ts';

test.each([
  ['Ada Lovelace', true],
  ['王芳', true],
  ['🦊', true],
  ['é', true],
  ['e\u0301', false],
  ['Ann\u200b', false],
  ['A\u200dnn', false],
  ['A\u00adnn', false],
  ['\u202eAnn', false],
  ['\ufeffAnn', false],
  ['Ann\ufe0f', false],
  ['Ann\u2028', false],
  ['a\tb', false],
  ['a\u0085b', false],
  ['\u3164', false],
  ['\ud800', false],
  ['\ufb01', true],
  ['\u212b', false],
])('%j is plain text: %s', (text, plain) => {
  expect(isPlainText(text)).toBe(plain);
});
