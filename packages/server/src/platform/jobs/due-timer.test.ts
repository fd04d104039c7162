import { expect, test } from 'vitest';
import { DueTimer } from './due-timer.ts';

test('onDue is called at each due time of a merchant, once for jobs that are due together', async () => {
  const nowMs = () => Date.now();
  const told: [merchant: string, lateMs: number][] = [];
  const startMs = Math.ceil(nowMs() / 1_000) * 1_000;
  const soon = new DueTimer({ nowMs, onDue: (merchant) => told.push([merchant, nowMs() - startMs]) });
  soon.add('c', startMs + 220);
  soon.add('b', startMs + 3_600_000);
  soon.add('b', startMs + 180);
  soon.add('a', startMs + 41);
  soon.add('a', startMs + 59);
  soon.add('a', startMs + 141);
  soon.add('far', startMs + 2 ** 40);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(4);
  expect(told.map(([merchant]) => merchant)).toEqual(['a', 'a', 'b', 'c']);
  const dueMs = [59, 141, 180, 220];
  for (const [i, [, atMs]] of told.entries()) expect(atMs).toBeGreaterThanOrEqual(dueMs[i] ?? 0);
  soon.add('a', nowMs() + 10);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(5);
  soon.add('closed', nowMs() + 10);
  soon.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toHaveLength(5);
});
