import { expect, test } from 'vitest';
import { Gather } from './gather.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A gather whose loads wait to be let go, in the order in which they began. */
function gated(options: { most?: number; patienceMs?: number } = {}) {
  const loads: { key: string; asks: readonly number[]; end: (error?: Error) => void }[] = [];
  const gather = new Gather<number, string>({
    patienceMs: 60_000,
    ...options,
    load: async (key, asks) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      loads.push({ key, asks, end: (error) => (error === undefined ? resolve() : reject(error)) });
      await promise;
      return asks.map((ask) => `${key}${ask}`);
    },
  });
  return { gather, loads };
}

test('asks of one turn share a load, those that come meanwhile the next one', async () => {
  const { gather, loads } = gated();
  const first = [gather.ask('a', 1), gather.ask('a', 2), gather.ask('b', 3)];
  await turn();
  expect(loads.map(({ key, asks }) => [key, asks])).toEqual([
    ['a', [1, 2]],
    ['b', [3]],
  ]);
  const later = [gather.ask('a', 4), gather.ask('a', 5)];
  await turn();
  expect(loads).toHaveLength(2);
  loads[1]?.end();
  await turn();
  expect(loads).toHaveLength(2);
  loads[0]?.end();
  expect(await Promise.all(first)).toEqual(['a1', 'a2', 'b3']);
  expect(loads[2]?.asks).toEqual([4, 5]);
  loads[2]?.end();
  expect(await Promise.all(later)).toEqual(['a4', 'a5']);
});

test('a load that fails fails for those who share it and for nobody else', async () => {
  const { gather, loads } = gated({ most: 2 });
  const asks = [1, 2, 3].map((ask) => gather.ask('a', ask));
  await turn();
  expect(loads.map((load) => load.asks)).toEqual([[1, 2], [3]]);
  loads[0]?.end(new Error('away'));
  loads[1]?.end();
  const settled = await Promise.allSettled(asks);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('nobody waits for long behind a load that hangs', async () => {
  const { gather, loads } = gated({ patienceMs: 5 });
  void gather.ask('a', 1);
  await turn();
  const second = gather.ask('a', 2);
  await expect.poll(() => loads.length).toBe(2);
  loads[1]?.end();
  expect(await second).toBe('a2');
  const third = gather.ask('a', 3);
  await expect.poll(() => loads.length).toBe(3);
  loads[2]?.end();
  expect(await third).toBe('a3');
});
