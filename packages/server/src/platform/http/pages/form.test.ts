import { expect, test } from 'vitest';
import { formOf } from './form.ts';

const TYPE = 'application/x-www-form-urlencoded';
const sent = (text: string, headers: Record<string, string> = {}) =>
  Object.fromEntries(formOf({ headers: { 'content-type': TYPE, ...headers }, body: Buffer.from(text) }));

test('the fields of a form', () => {
  expect(sent('a=1&b=%C3%B1')).toEqual({ a: '1', b: 'ñ' });
  expect(sent('a=1', { 'content-type': `${TYPE.toUpperCase()}; charset=utf-8` })).toEqual({ a: '1' });
  expect(sent('a=1', { 'sec-fetch-site': 'same-origin' })).toEqual({ a: '1' });
  expect(sent(`a=${'x'.repeat(1_022)}`)).toHaveProperty('a');
});

test.each([
  ['JSON', { 'content-type': 'application/json' }],
  ['plain text, which any page may send', { 'content-type': 'text/plain' }],
  ['a post from another site', { 'sec-fetch-site': 'cross-site' }],
  ['a post from another name of the same site', { 'sec-fetch-site': 'same-site' }],
])('what no page of ours sends asks for nothing: %s', (_what, headers) => {
  expect(sent('a=1', headers)).toEqual({});
});

test('what no page of ours sends asks for nothing: more than its fields hold', () => {
  expect(sent(`a=${'x'.repeat(1_023)}`)).toEqual({});
});
