import { expect, test } from 'vitest';
import { Moves } from './moves.ts';

const MOVES = new Moves('a door', { open: ['shut'], shut: ['open', 'locked'], locked: [] });

test('only the moves of the table pass, and staying', () => {
  expect(() => MOVES.check('open', 'shut')).not.toThrow();
  expect(() => MOVES.check('locked', 'locked')).not.toThrow();
  expect(() => MOVES.check('open', 'locked')).toThrow('invariant broken: a door goes from open to locked');
});

test('it tells which states lead to one, and which lead nowhere', () => {
  expect(MOVES.into('shut')).toEqual(['open', 'shut']);
  expect(MOVES.into('locked')).toEqual(['shut', 'locked']);
  expect([MOVES.isFinal('open'), MOVES.isFinal('locked')]).toEqual([false, true]);
});
