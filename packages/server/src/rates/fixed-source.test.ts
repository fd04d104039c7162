import { CURRENCIES } from '@florin/contract/currencies';
import { ASSETS } from '@florin/contract/money';
import { expect, test } from 'vitest';
import { FIXED_RATES } from './fixed-rates.ts';
import { fixedSource } from './fixed-source.ts';
import { formatRate } from './rate.ts';

const UNITS_OF_ACCOUNT = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW', 'XAD'];

async function rateOf(currency: string, changes: string[] = [], token: 'USDT' | 'USDC' = 'USDT') {
  const { rate } = await fixedSource({ changes, nowMs: () => 1_000 }).quote({ token, currency });
  return formatRate(rate);
}

test('every currency has a rate, and units of account have none', async () => {
  const tokens: readonly string[] = ASSETS;
  const others = [...UNITS_OF_ACCOUNT, ...tokens];
  expect([...FIXED_RATES.keys()].toSorted()).toEqual(CURRENCIES.filter((code) => !others.includes(code)));
  for (const currency of FIXED_RATES.keys()) expect(Number(await rateOf(currency))).toBeGreaterThan(0);
  expect(await rateOf('USD')).toBe('1');
});

test('a currency without a rate is refused', async () => {
  for (const currency of UNITS_OF_ACCOUNT) {
    await expect(rateOf(currency)).rejects.toMatchObject({ reason: 'no_rate' });
  }
});

test('entries can be changed for both tokens or for one', async () => {
  const changes = ['EUR=0.9500', 'USDC/EUR=0.96', 'USDT/USD=0.9', 'GBP=0'];
  expect(await rateOf('EUR', changes)).toBe('0.95');
  expect(await rateOf('EUR', changes, 'USDC')).toBe('0.96');
  expect(await rateOf('USD', changes)).toBe('0.9');
  expect(await rateOf('USD', changes, 'USDC')).toBe('1');
  await expect(rateOf('GBP', changes)).rejects.toMatchObject({ reason: 'invalid' });
});
