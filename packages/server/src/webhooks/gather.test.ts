import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Gather } from './gather.ts';

test('callers of one turn share the work, callers during it share the next, keys do not wait for each other', async () => {
  const works: string[] = [];
  const gather = new Gather<number, string>(100, async (key, inputs) => {
    works.push(`${key}:${inputs.join('+')}`);
    await sleep(20);
    return inputs.map((input) => `${key}${input}`);
  });
  const first = [gather.add('a', 1), gather.add('a', 2), gather.add('b', 9)];
  await sleep(5);
  const second = [gather.add('a', 3), gather.add('a', 4)];
  expect(await Promise.all([...first, ...second])).toEqual(['a1', 'a2', 'b9', 'a3', 'a4']);
  expect(works).toEqual(['a:1+2', 'b:9', 'a:3+4']);
});

test('no work takes more than its share, and each caller gets the result of its own input', async () => {
  const sizes: number[] = [];
  const gather = new Gather<number, number>(3, async (_key, inputs) => {
    sizes.push(inputs.length);
    return inputs.map((input) => input * 2);
  });
  const results = await Promise.all(Array.from({ length: 8 }, (_, i) => gather.add('k', i)));
  expect(results).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
  expect(sizes).toEqual([3, 3, 2]);
});

test('work that fails fails its own callers only', async () => {
  let fail = true;
  const gather = new Gather<number, number>(1, async (_key, inputs) => {
    if (fail) {
      fail = false;
      throw new Error('once');
    }
    return inputs;
  });
  const outcomes = await Promise.allSettled([gather.add('k', 1), gather.add('k', 2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await gather.add('k', 3)).toBe(3);
});

test('works of a key that begin at intervals carry what came meanwhile; the first one and a full one do not wait', async () => {
  const works: number[][] = [];
  const work = async (_key: string, inputs: number[]) => {
    works.push(inputs);
    return inputs;
  };
  const gather = new Gather<number, number>(3, work, { everyMs: 3_000 });
  await gather.add('a', 1);
  const waiting = gather.add('a', 2);
  expect(await gather.add('b', 9)).toBe(9);
  expect(works).toEqual([[1], [9]]);
  void waiting;

  const short = new Gather<number, number>(3, work, { everyMs: 30 });
  works.length = 0;
  await short.add('a', 1);
  expect(await Promise.all([2, 3].map((n) => short.add('a', n)))).toEqual([2, 3]);
  expect(works).toEqual([[1], [2, 3]]);
});
