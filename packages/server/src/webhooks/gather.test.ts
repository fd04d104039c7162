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
