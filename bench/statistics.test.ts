import { expect, test } from 'vitest';
import { meanOfRatios, median, medianAndSpread, percentile, ratios } from './statistics.ts';

test('the median is the middle value, or the mean of two', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('a percentile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, i) => i);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([7], 1)).toBe(7);
});

test('rounds are compared one by one', () => {
  expect(ratios([10, 30], [20, 20])).toEqual([0.5, 1.5]);
  expect(ratios([10], [])).toEqual([Number.NaN]);
});

test('the interval of a mean of ratios narrows with the root of their number', () => {
  const of = (count: number) =>
    meanOfRatios(Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 2 : 0.5)));
  const [few, many] = [of(100), of(400)];
  expect(few.mean).toBeCloseTo(1, 10);
  expect(few.low * few.high).toBeCloseTo(1, 10);
  expect(Math.log(few.high)).toBeCloseTo((1.96 / Math.sqrt(99)) * Math.log(2), 2);
  expect(Math.log(few.high) / Math.log(many.high)).toBeCloseTo(2, 1);
  // Of two values little is known.
  expect(Math.log(of(2).high)).toBeCloseTo(12.71 * Math.log(2), 5);
});

test('a row shows the median and the spread', () => {
  expect(medianAndSpread([0.5, 0.7, 0.6])).toBe('0.60 [0.50-0.70]');
  expect(medianAndSpread([1234, 999, 45.67])).toBe('999 [45.7-1,234]');
  expect(medianAndSpread([2])).toBe('2.00');
});
