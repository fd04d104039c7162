import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACCENT, accentColours, accentCss, CONTRAST_MIN, contrastOf } from './accent.ts';

const tokens = readFileSync(path.join(import.meta.dirname, 'tokens.css'), 'utf8');
const long = (hex: string) =>
  hex.length === 4 ? `#${Array.from(hex.slice(1), (digit) => digit + digit).join('')}` : hex;

/** Both values of a token, as the style sheet has them. */
function tokenOf(name: string): { light: string; dark: string } {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
  expect([light, dark], name).not.toContain('');
  return { light: long(light), dark: long(dark) };
}

const hex = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const extremes = ['#000000', '#ffffff', '#ffff00', '#00ff00', '#0000ff', '#ff0000', '#808080', '#777777'];

test.each(['light', 'dark'] as const)('any colour of a store can be read on every surface in %s', (mode) => {
  const ink = tokenOf('ink')[mode];
  const surfaces = ['ground', 'card', 'field'].map((name) => tokenOf(name)[mode]);
  const check = (chosen: string) => {
    const { accent, onAccent, tint } = accentColours(chosen)[mode];
    for (const surface of [...surfaces, tint])
      expect(contrastOf(accent, surface), `${accent} on ${surface}`).toBeGreaterThanOrEqual(CONTRAST_MIN);
    expect(contrastOf(onAccent, accent), `text on ${accent}`).toBeGreaterThanOrEqual(CONTRAST_MIN);
    for (const text of [ink, ...['quiet', 'warn', 'bad', 'good'].map((name) => tokenOf(name)[mode])])
      expect(contrastOf(text, tint), `${text} on ${tint}`).toBeGreaterThanOrEqual(CONTRAST_MIN);
  };
  extremes.forEach(check);
  fc.assert(fc.property(hex, check));
});

test('a colour that can be read as it is stays as it is', () => {
  expect(accentColours('#0a58ca').light.accent).toBe('#0a58ca');
  expect(accentColours('#8bb8ff').dark.accent).toBe('#8bb8ff');
});

test('contrast is that of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrastOf('#ffffff', '#767676')).toBeCloseTo(4.54, 2);
});

test('the style has colours of ours only', () => {
  fc.assert(
    fc.property(hex, (chosen) => {
      expect(chosen).toMatch(ACCENT);
      expect(accentCss(chosen)).toMatch(
        /^:root\{(--[a-z-]+:light-dark\(#[0-9a-f]{6},#[0-9a-f]{6}\);?){3}\}$/,
      );
    }),
  );
});
