import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agree, type SourceAnswer } from './agree.ts';
import { SourceFailed } from './port.ts';
import { formatRate, parseRate } from './rate.ts';

const NOW_MS = 1_800_000_000_000;
const LIMITS = { nowMs: NOW_MS, maxAgeMs: 60_000, maxDeviationBasisPoints: 200 };
const DOWN = new SourceFailed('no_rate', 'timeout');
const BROKEN = new SourceFailed('invalid', 'no JSON');

const said = (text: string, ageMs = 0): SourceAnswer => ({ rate: parseRate(text), atMs: NOW_MS - ageMs });
/** The rate, or why there is none. */
function decide(...all: SourceAnswer[]): string {
  const agreement = agree(all, LIMITS);
  return 'rate' in agreement ? formatRate(agreement.rate) : agreement.refusal;
}

test.each<[string, SourceAnswer[], string]>([
  ['no source at all', [], 'no_rate'],
  ['one source', [said('0.92')], '0.92'],
  ['one that is down', [DOWN], 'no_rate'],
  ['one that is broken', [BROKEN], 'invalid'],
  ['one at the maximum age', [said('0.92', 60_000)], '0.92'],
  ['one that is a millisecond older', [said('0.92', 60_001)], 'stale'],
  ['two that agree', [said('1'), said('1.02')], '1.01'],
  ['two that do not quite', [said('1'), said('1.020000000001')], 'deviating'],
  ['two, one of them down', [said('1'), DOWN], 'no_rate'],
  ['two, one of them stale', [said('1'), said('1', 60_001)], 'stale'],
  ['three that agree', [said('0.93'), said('0.91'), said('0.92')], '0.92'],
  ['three, one of them lying high', [said('0.92'), said('92'), said('0.921')], '0.9205'],
  ['three, one of them lying low', [said('0.92'), said('0.000001'), said('0.921')], '0.9205'],
  ['three, one of them down', [said('0.92'), DOWN, said('0.921')], '0.9205'],
  ['three, one down and one lying', [said('0.92'), DOWN, said('92')], 'deviating'],
  ['three, two of them down', [said('0.92'), DOWN, BROKEN], 'invalid'],
  ['three that all differ', [said('1'), said('2'), said('3')], 'deviating'],
  ['four, two against two', [said('1'), said('1'), said('2'), said('2')], 'deviating'],
])('%s', (_name, all, decided) => {
  expect(decide(...all)).toBe(decided);
  expect(decide(...all.toReversed())).toBe(decided);
});

test('each source has its own fault', () => {
  const all = [
    said('0.92'),
    BROKEN,
    said('0.92', 60_001),
    said('9'),
    said('0.92'),
    said('0.921'),
    said('0.92'),
  ];
  expect(agree(all, LIMITS).faults).toEqual([null, 'invalid', 'stale', 'deviating', null, null, null]);
});

test('whatever less than half of the sources answer, the rate is within the honest ones or there is none', () => {
  const rateText = fc.bigInt({ min: 1n, max: 10n ** 9n }).map((units) => `${units}e-6`);
  const lie = fc.oneof(
    rateText.map((text) => said(text)),
    rateText.map((text) => said(text, 60_001)),
    fc.constantFrom<SourceAnswer>(DOWN, BROKEN),
  );
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 900_000, max: 909_000 }), { minLength: 1, maxLength: 5 }),
      fc.array(lie, { maxLength: 4 }),
      (honest, lies) => {
        const fewer = lies.slice(0, honest.length - 1);
        const agreement = agree([...honest.map((units) => said(`${units}e-6`)), ...fewer], LIMITS);
        // The honest ones differ by 1 %, so that the majority they are always agrees.
        if (!('rate' in agreement)) throw new Error(agreement.refusal);
        const micros = Number(formatRate(agreement.rate)) * 1e6;
        const margin = 1 + LIMITS.maxDeviationBasisPoints / 10_000;
        expect(micros).toBeGreaterThanOrEqual(Math.min(...honest) / margin);
        expect(micros).toBeLessThanOrEqual(Math.max(...honest) * margin);
      },
    ),
    { numRuns: 2_000 },
  );
});
