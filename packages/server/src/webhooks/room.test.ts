import { expect, test } from 'vitest';
import { Gather } from './gather.ts';
import { Room } from './room.ts';

test('so many are in at a time, preferred ones go first, and leaving twice lets nobody else in', async () => {
  const room = new Room(2);
  const order: string[] = [];
  const come = (name: string, isPreferred?: boolean) =>
    room.enter(isPreferred).then((leave) => {
      order.push(name);
      return leave;
    });
  const first = await come('first');
  const second = await come('second');
  const third = come('third');
  const fourth = come('fourth', true);
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

test('what waits for a place in the room gathers meanwhile', async () => {
  const works: string[] = [];
  const doors: (() => void)[] = [];
  const work = async (key: string, inputs: number[]) => {
    works.push(`${key}:${inputs.join('+')}`);
    await new Promise<void>((resolve) => doors.push(resolve));
    return inputs;
  };
  const gather = new Gather<number, number>(100, work, new Room(1));
  const all = [gather.add('a', 1), gather.add('b', 2)];
  await expect.poll(() => doors.length).toBe(1);
  all.push(gather.add('b', 3));
  doors.shift()?.();
  await expect.poll(() => doors.length).toBe(1);
  doors.shift()?.();
  expect(await Promise.all(all)).toEqual([1, 2, 3]);
  expect(works).toEqual(['a:1', 'b:2+3']);
});
