import { expect, test } from 'vitest';
import { BodyBudget } from './body-budget.ts';

const NOON_MS = Date.UTC(2026, 0, 2, 12);
const row = (change = {}) => ({
  merchant_id: 'a',
  status: 200,
  request_body: 'x'.repeat(40),
  answer_body: null,
  ...change,
});

test('the bodies of a merchant have a limit for each day, and those of 429 no room', () => {
  const budget = new BodyBudget(100);
  const kept = [1, 2, 3].map(() => budget.hasRoom(row(), NOON_MS));
  expect(kept).toEqual([true, true, false]);
  expect(budget.hasRoom(row({ merchant_id: 'b' }), NOON_MS)).toBe(true);
  expect(budget.hasRoom(row(), NOON_MS + 86_400_000)).toBe(true);
  expect(budget.hasRoom(row({ merchant_id: 'c', status: 429 }), NOON_MS)).toBe(false);
});
