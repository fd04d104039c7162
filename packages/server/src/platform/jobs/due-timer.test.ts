import { expect, test } from 'vitest';
import { DueTimer } from './due-timer.ts';

test('onDue is called at each due time of a merchant, once for jobs that are due together', async () => {
  const nowMs = () => Date.now();
  const told: [merchant: string, lateMs: number][] = [];
  const startMs = Math.ceil(nowMs() / 1_000) * 1_000;
  const timer = new DueTimer({ nowMs, onDue: (merchant) => told.push([merchant, nowMs() - startMs]) });
  timer.add('c', startMs + 220);
  timer.add('b', startMs + 3_600_000);
  timer.add('b', startMs + 180);
  timer.add('a', startMs + 41);
  timer.add('a', startMs + 59);
  timer.add('a', startMs + 141);
  timer.add('far', startMs + 2 ** 40);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(4);
  // On a busy machine one late timer serves several due times, in any order.
  const sorted = told.toSorted(([a, aMs], [b, bMs]) => a.localeCompare(b) || aMs - bMs);
  expect(sorted.map(([merchant]) => merchant)).toEqual(['a', 'a', 'b', 'c']);
  const dueMs = [59, 141, 180, 220];
  for (const [i, [, atMs]] of sorted.entries()) expect(atMs).toBeGreaterThanOrEqual(dueMs[i] ?? 0);
  timer.add('a', nowMs() + 10);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(5);
  timer.add('closed', nowMs() + 10);
  timer.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toHaveLength(5);
});
