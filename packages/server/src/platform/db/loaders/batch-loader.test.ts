import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BatchLoader } from './batch-loader.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A loader whose loads wait to be let go, in the order in which they began. */
function gated(options: { maxBatch?: number; overlapAfterMs?: number } = {}) {
  const loads: { key: string; asks: readonly number[]; end: (error?: Error) => void }[] = [];
  const loader = new BatchLoader<number, string>({
    overlapAfterMs: 60_000,
    ...options,
    loadBatch: async (key, asks) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      loads.push({ key, asks, end: (error) => (error === undefined ? resolve() : reject(error)) });
      await promise;
      return asks.map((ask) => `${key}${ask}`);
    },
  });
  return { loader, loads };
}

describe('where loads of a key may overlap', () => {
  test('calls of one turn of the event loop share a batch, later ones the next', async () => {
    const { loader, loads } = gated();
    const first = [loader.load('a', 1), loader.load('a', 2), loader.load('b', 3)];
    await turn();
    expect(loads.map(({ key, asks }) => [key, asks])).toEqual([
      ['a', [1, 2]],
      ['b', [3]],
    ]);
    const later = [loader.load('a', 4), loader.load('a', 5)];
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
    const { loader, loads } = gated({ maxBatch: 2 });
    const asks = [1, 2, 3].map((ask) => loader.load('a', ask));
    await turn();
    expect(loads.map((load) => load.asks)).toEqual([[1, 2], [3]]);
    loads[0]?.end(new Error('away'));
    loads[1]?.end();
    const settled = await Promise.allSettled(asks);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  test('nobody waits for long behind a load that hangs', async () => {
    const { loader, loads } = gated({ overlapAfterMs: 5 });
    void loader.load('a', 1);
    await turn();
    const second = loader.load('a', 2);
    await expect.poll(() => loads.length).toBe(2);
    loads[1]?.end();
    expect(await second).toBe('a2');
    const third = loader.load('a', 3);
    await expect.poll(() => loads.length).toBe(3);
    loads[2]?.end();
    expect(await third).toBe('a3');
  });
});

describe('where loads of a key never overlap', () => {
  test('callers of one turn share the work, callers during it share the next, keys do not wait for each other', async () => {
    const works: string[] = [];
    const loader = new BatchLoader<number, string>({
      loadBatch: async (key, inputs) => {
        works.push(`${key}:${inputs.join('+')}`);
        await sleep(20);
        return inputs.map((input) => `${key}${input}`);
      },
    });
    const first = [loader.load('a', 1), loader.load('a', 2), loader.load('b', 9)];
    await sleep(5);
    const second = [loader.load('a', 3), loader.load('a', 4)];
    expect(await Promise.all([...first, ...second])).toEqual(['a1', 'a2', 'b9', 'a3', 'a4']);
    expect(works).toEqual(['a:1+2', 'b:9', 'a:3+4']);
  });

  test('no work takes more than its share, and each caller gets the result of its own input', async () => {
    const sizes: number[] = [];
    const loader = new BatchLoader<number, number>({
      maxBatch: 3,
      loadBatch: async (_key, inputs) => {
        sizes.push(inputs.length);
        return inputs.map((input) => input * 2);
      },
    });
    const results = await Promise.all(Array.from({ length: 8 }, (_, i) => loader.load('k', i)));
    expect(results).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
    expect(sizes).toEqual([3, 3, 2]);
  });

  test('work that fails fails its own callers only', async () => {
    let fail = true;
    const loader = new BatchLoader<number, number>({
      maxBatch: 1,
      loadBatch: async (_key, inputs) => {
        if (fail) {
          fail = false;
          throw new Error('once');
        }
        return inputs;
      },
    });
    const outcomes = await Promise.allSettled([loader.load('k', 1), loader.load('k', 2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await loader.load('k', 3)).toBe(3);
  });

  test('works of a key that begin at intervals carry what came meanwhile; the first one and a full one do not wait', async () => {
    const works: number[][] = [];
    const load = async (_key: string, inputs: readonly number[]) => {
      works.push([...inputs]);
      return inputs;
    };
    const loader = new BatchLoader<number, number>({ maxBatch: 3, loadBatch: load, intervalMs: 3_000 });
    await loader.load('a', 1);
    const waiting = loader.load('a', 2);
    expect(await loader.load('b', 9)).toBe(9);
    expect(works).toEqual([[1], [9]]);
    void waiting;

    const short = new BatchLoader<number, number>({ maxBatch: 3, loadBatch: load, intervalMs: 30 });
    works.length = 0;
    await short.load('a', 1);
    expect(await Promise.all([2, 3].map((n) => short.load('a', n)))).toEqual([2, 3]);
    expect(works).toEqual([[1], [2, 3]]);
  });
});
