import { expect, test } from 'vitest';
import { AnswersDiffer } from '../port/port-errors.ts';
import { readInHalves } from './read-in-halves.ts';

const list = Array.from({ length: 50 }, (_, i) => i);

/** Reads what is asked but these, which make each part with them unreadable. */
function reader(bad: ReadonlySet<number>) {
  const read = { calls: 0 };
  const found = readInHalves(list, async (part) => {
    read.calls += 1;
    const isBad = part.some((one) => bad.has(one));
    if (isBad && read.calls % 2 === 0) throw new AnswersDiffer('trc20', 'they differ');
    return isBad ? undefined : part;
  });
  return { read, found };
}

test('one that cannot be read hides none of the others; many cost no more than so many calls', async () => {
  const some = reader(new Set([7, 8, 40]));
  expect(await some.found).toEqual(list.map((one) => ([7, 8, 40].includes(one) ? undefined : one)));
  const many = reader(new Set(list.filter((one) => one % 2 === 0)));
  const found = await many.found;
  expect(found).toHaveLength(list.length);
  expect(many.read.calls).toBeLessThanOrEqual(41);
  const none = reader(new Set(list));
  expect(await none.found).toEqual(list.map(() => undefined));
  expect(none.read.calls).toBeLessThanOrEqual(41);
});
