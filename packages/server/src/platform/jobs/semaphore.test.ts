import { expect, test } from 'vitest';
import { BatchLoader } from '../db/loaders/batch-loader.ts';
import { Semaphore } from './semaphore.ts';

test('at most as many as there are permits hold it, lower ranks go first, and a second release does nothing', async () => {
  const semaphore = new Semaphore(2);
  const order: string[] = [];
  const come = (name: string, rank?: number) =>
    semaphore.acquire(rank).then((release) => {
      order.push(name);
      return release;
    });
  const first = await come('first');
  const second = await come('second');
  const third = come('third', 1);
  const fourth = come('fourth');
  first();
  first();
  (await fourth)();
  const leaveThird = await third;
  expect(order).toEqual(['first', 'second', 'fourth', 'third']);
  second();
  leaveThird();
  await Promise.all([come('a'), come('b')]);
  expect(order).toEqual(['first', 'second', 'fourth', 'third', 'a', 'b']);
});

test('every eighth release serves the last rank, however many of the first wait', async () => {
  const semaphore = new Semaphore(1);
  const order: number[] = [];
  const release = await semaphore.acquire();
  const come = async (rank: number) => {
    const release = await semaphore.acquire(rank);
    order.push(rank);
    release();
  };
  const all = [come(2), come(1), ...Array.from({ length: 20 }, () => come(0))];
  release();
  await Promise.all(all);
  expect(order.indexOf(2)).toBe(7);
  expect(order.indexOf(1)).toBe(15);
});

test('a permit taken beyond the limit is released before any waiter is served', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire();
  const leaveTaken = semaphore.take();
  let isIn = false;
  const waiting = semaphore.acquire().then((release) => {
    isIn = true;
    return release;
  });
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIn).toBe(false);
  leaveTaken();
  (await waiting)();
});

test('what waits for a place in the semaphore gathers meanwhile', async () => {
  const works: string[] = [];
  const doors: (() => void)[] = [];
  const load = async (key: string, inputs: readonly number[]) => {
    works.push(`${key}:${inputs.join('+')}`);
    await new Promise<void>((resolve) => doors.push(resolve));
    return inputs;
  };
  const loader = new BatchLoader<number, number>({ loadBatch: load, semaphore: new Semaphore(1) });
  const all = [loader.load('a', 1), loader.load('b', 2)];
  await expect.poll(() => doors.length).toBe(1);
  all.push(loader.load('b', 3));
  doors.shift()?.();
  await expect.poll(() => doors.length).toBe(1);
  doors.shift()?.();
  expect(await Promise.all(all)).toEqual([1, 2, 3]);
  expect(works).toEqual(['a:1', 'b:2+3']);
});
