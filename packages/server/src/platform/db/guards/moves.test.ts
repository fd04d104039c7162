import { expect, test } from 'vitest';
import { Moves } from './moves.ts';

const MOVES = new Moves('a door', { open: ['shut'], shut: ['open', 'locked'], locked: [] });

test('only the moves of the table pass, and staying', () => {
  expect(() => MOVES.check('open', 'shut')).not.toThrow();
  expect(() => MOVES.check('locked', 'locked')).not.toThrow();
  expect(() => MOVES.check('open', 'locked')).toThrow('invariant broken: a door goes from open to locked');
});

test('a statement with fixed states is refused when it is built', () => {
  expect(MOVES.move('shut', 'locked')).toEqual({ from: 'shut', to: 'locked' });
  expect(() => MOVES.move('open', 'locked')).toThrow('invariant broken: a door goes from open to locked');
  expect(() => MOVES.move('shut', 'shut')).toThrow('invariant broken');
});

test('several moves at once follow the table', () => {
  expect(MOVES.leadsTo('open', 'locked')).toBe(true);
  expect(MOVES.leadsTo('locked', 'locked')).toBe(true);
  expect(MOVES.leadsTo('locked', 'open')).toBe(false);
});

test('the states before one and after all', () => {
  expect(MOVES.into('shut')).toEqual(['open', 'shut']);
  expect(MOVES.before('shut')).toEqual(['open']);
  expect(MOVES.into('locked')).toEqual(['shut', 'locked']);
  expect([MOVES.isFinal('open'), MOVES.isFinal('locked')]).toEqual([false, true]);
});
