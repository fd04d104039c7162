import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  isNonce,
  isSignature,
  isTimestamp,
  NONCE_KEEP_SECONDS,
  SIGNING_VECTORS,
  signatureForm,
  signedPrefix,
  TIMESTAMP_SKEW_MAX_SECONDS,
} from './signing.ts';

describe('published vectors', () => {
  test.each(SIGNING_VECTORS)('$name', (vector) => {
    const body = Buffer.from(vector.bodyHex, 'hex');
    const whole = Buffer.concat([Buffer.from(`${vector.timestamp}.${vector.nonce}.`, 'latin1'), body]);
    expect(createHmac('sha256', vector.secret).update(whole).digest('hex')).toBe(vector.signature);

    const inParts = createHmac('sha256', vector.secret).update(signedPrefix(vector.timestamp, vector.nonce));
    expect(inParts.update(body).digest('hex')).toBe(vector.signature);
    expect(isTimestamp(vector.timestamp) && isNonce(vector.nonce) && isSignature(vector.signature)).toBe(
      true,
    );
  });

  test('cover an empty body, text beyond ASCII, NUL bytes and bytes that are no text', () => {
    const bodies = SIGNING_VECTORS.map((vector) => Buffer.from(vector.bodyHex, 'hex'));
    expect(bodies.some((body) => body.length === 0)).toBe(true);
    expect(bodies.some((body) => body.includes('東京'))).toBe(true);
    expect(bodies.some((body) => body.includes(0))).toBe(true);
    expect(bodies.some((body) => !Buffer.from(body.toString('utf8')).equals(body))).toBe(true);
    expect(new Set(SIGNING_VECTORS.map((vector) => vector.signature)).size).toBe(SIGNING_VECTORS.length);
  });
});

describe('A1: a timestamp is 1 to 12 plain digits', () => {
  test.each([['0'], ['7'], ['001776643200'], ['1776643200'], ['999999999999']])('%s is one', (text) => {
    expect(isTimestamp(text)).toBe(true);
  });
  const odd = [
    '',
    ' ',
    '+1776643200',
    '-1',
    ' 1776643200',
    '1776643200 ',
    '1776643200\n',
    '\n1776643200',
    '1776643200.0',
    '1e9',
    '0x69e5f480',
    '1_776_643_200',
    '1,776',
    '１７７６',
    '१७७६',
    '1776643200000',
    'NaN',
    'Infinity',
    '1776643200n',
  ];
  test.each(odd.map((text) => [text]))('%j is refused', (text) => {
    expect(isTimestamp(text)).toBe(false);
  });
});

describe('a nonce is 16 to 64 visible ASCII characters', () => {
  test('every visible character is allowed and no other', () => {
    for (let code = 0; code < 0x180; code++) {
      expect(isNonce(String.fromCharCode(code).repeat(16))).toBe(code >= 0x21 && code <= 0x7e);
    }
  });
  test('the length is counted exactly', () => {
    const lengths = [0, 1, 15, 16, 17, 36, 63, 64, 65, 1000];
    expect(lengths.filter((length) => isNonce('n'.repeat(length)))).toEqual([16, 17, 36, 63, 64]);
  });
  test('a line feed at the end does not slip through', () => {
    expect(isNonce(`${'n'.repeat(16)}\n`)).toBe(false);
  });
});

test('A5: a signature has one spelling, 64 lower-case hex digits', () => {
  const good = 'a1'.repeat(32);
  expect(isSignature(good)).toBe(true);
  const bad = [
    good.toUpperCase(),
    good.slice(1),
    `${good}0`,
    `${good}\n`,
    `0x${good.slice(2)}`,
    ` ${good.slice(1)}`,
    `g${good.slice(1)}`,
    '',
  ];
  expect(bad.filter(isSignature)).toEqual([]);
});

test('a spent nonce is kept longer than any stamp that carried it can live', () => {
  expect(NONCE_KEEP_SECONDS).toBeGreaterThan(2 * TIMESTAMP_SKEW_MAX_SECONDS);
});

test('the form of a signature', () => {
  const digest = Buffer.alloc(32, 0xab);
  const forms = [digest.toString('hex'), digest.toString('hex').toUpperCase()];
  const base64 = [digest.toString('base64'), digest.toString('base64url')];
  expect(forms.map(signatureForm)).toEqual(['right', 'upper_case']);
  expect(base64.map(signatureForm)).toEqual(['base64', 'base64']);
  expect(['', `sha256=${forms[0]}`, 'ab'.repeat(20)].map(signatureForm)).toEqual(['other', 'other', 'other']);
});
