import { expect, test } from 'vitest';
import { Gather } from './gather.ts';
import { Room } from './room.ts';

test('so many are in at a time, lower ranks go first, and leaving twice lets nobody else in', async () => {
  const room = new Room(2);
  const order: string[] = [];
  const come = (name: string, rank?: number) =>
    room.enter(rank).then((leave) => {
      order.push(name);
      return leave;
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

test('one place in eight goes to the last rank, however many of the first ones wait', async () => {
  const room = new Room(1);
  const order: number[] = [];
  const leave = await room.enter();
  const come = async (rank: number) => {
    const leave = await room.enter(rank);
    order.push(rank);
    leave();
  };
  const all = [come(2), come(1), ...Array.from({ length: 20 }, () => come(0))];
  leave();
  await Promise.all(all);
  expect(order.indexOf(2)).toBe(7);
  expect(order.indexOf(1)).toBe(15);
});

test('a place that is taken where none is free is given back before anybody enters', async () => {
  const room = new Room(1);
  const leave = await room.enter();
  const leaveTaken = room.take();
  let isIn = false;
  const waiting = room.enter().then((leave) => {
    isIn = true;
    return leave;
  });
  leave();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIn).toBe(false);
  leaveTaken();
  (await waiting)();
});

test('what waits for a place in the room gathers meanwhile', async () => {
  const works: string[] = [];
  const doors: (() => void)[] = [];
  const load = async (key: string, inputs: readonly number[]) => {
    works.push(`${key}:${inputs.join('+')}`);
    await new Promise<void>((resolve) => doors.push(resolve));
    return inputs;
  };
  const gather = new Gather<number, number>({ load, room: new Room(1) });
  const all = [gather.ask('a', 1), gather.ask('b', 2)];
  await expect.poll(() => doors.length).toBe(1);
  all.push(gather.ask('b', 3));
  doors.shift()?.();
  await expect.poll(() => doors.length).toBe(1);
  doors.shift()?.();
  expect(await Promise.all(all)).toEqual([1, 2, 3]);
  expect(works).toEqual(['a:1', 'b:2+3']);
});
