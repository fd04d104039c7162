import { expect, test } from 'vitest';
import { Soon } from './soon.ts';

test('each merchant is told of once, when the first of its jobs is due', async () => {
  const nowMs = () => Date.now();
  const told: [merchant: string, lateMs: number][] = [];
  const startMs = nowMs();
  const soon = new Soon({ nowMs, onDue: (merchant) => told.push([merchant, nowMs() - startMs]) });
  soon.add('c', startMs + 120);
  soon.add('b', startMs + 3_600_000);
  soon.add('b', startMs + 80);
  soon.add('a', startMs + 40);
  soon.add('a', startMs + 60);
  soon.add('far', startMs + 2 ** 40);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(3);
  expect(told.map(([merchant]) => merchant)).toEqual(['a', 'b', 'c']);
  const dueMs = [40, 80, 120];
  for (const [i, [, atMs]] of told.entries()) expect(atMs).toBeGreaterThanOrEqual(dueMs[i] ?? 0);
  soon.add('a', nowMs() + 10);
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(4);
  soon.add('closed', nowMs() + 10);
  soon.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toHaveLength(4);
});
