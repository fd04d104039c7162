import { expect, test } from 'vitest';
import { isSource, locationOf } from './source-text.ts';

test('a source is filled in for a pair', () => {
  const source =
    'https://r.example/{TOKEN}/{token}?id={coin}&to={currency}#data.{CURRENCY}.0,{coin}.updated_at';
  expect(isSource(source)).toBe(true);
  expect(locationOf(source, { token: 'USDC', currency: 'EUR' })).toEqual({
    url: 'https://r.example/USDC/usdc?id=usd-coin&to=eur',
    rate: ['data', 'EUR', '0'],
    time: ['usd-coin', 'updated_at'],
  });
  expect(locationOf('https://r.example/#a', { token: 'USDT', currency: 'EUR' }).time).toBeUndefined();
});

test.each([
  'https://r.example/?from={TOKEN}#rates.{CURRENCY}',
  'https://10.0.0.7:8443/r#r',
  'http://127.0.0.1:8080/r#r',
  'http://localhost/r#r',
  'http://[::1]:80/r#r',
])('%s is a source', (text) => expect(isSource(text)).toBe(true));

test.each([
  '',
  'fixed',
  'https://r.example/',
  'https://r.example/#',
  'https://r.example/#a#b',
  'https://r.example/#a,b,c',
  'https://r.example/#a..b',
  'https://r.example/#{PAIR}',
  'https://r.example/{PAIR}#a',
  'https://me:secret@r.example/#a',
  'http://r.example/#a',
  'http://127.0.0.1.r.example/#a',
  'ftp://r.example/#a',
  'file:///etc/passwd#a',
  '/r#a',
  `https://r.example/${'a'.repeat(1_000)}#a`,
])('%j is none', (text) => expect(isSource(text)).toBe(false));
