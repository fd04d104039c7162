import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Present, type ResumeRequest, refusalOf, statusOf } from './decide.ts';

const DAY_MS = 86_400_000;
const person = fc.constantFrom('ada', 'grace', 'eve');
const digest = fc.constantFrom('stop', 'stop again');
const requests = fc.record({
  requestId: fc.constantFrom('r1', 'r2'),
  requestedBy: person,
  reason: fc.constant('looked'),
  seen: digest,
  createdAtMs: fc.integer({ min: 0, max: 3 * DAY_MS }),
});
const presents = fc.record({
  seen: digest,
  operators: fc.uniqueArray(person).map((all) => new Set(all)),
  nowMs: fc.integer({ min: 0, max: 3 * DAY_MS }),
});
const confirmations = fc.record({ requestId: fc.constantFrom('r1', 'r2'), userId: person, seen: digest });

test('whatever is resumed was looked at by two operators, as it is, within a day', () => {
  let confirmed = 0;
  fc.assert(
    fc.property(requests, confirmations, presents, (request, by, present) => {
      if (refusalOf(request, by, present) !== undefined) return;
      confirmed += 1;
      expect(by.userId).not.toBe(request.requestedBy);
      expect(new Set([request.seen, by.seen, present.seen]).size).toBe(1);
      expect([...present.operators]).toEqual(expect.arrayContaining([by.userId, request.requestedBy]));
      expect(present.nowMs - request.createdAtMs).toBeLessThan(DAY_MS);
      expect(by.requestId).toBe(request.requestId);
    }),
    { numRuns: 5_000, seed: 1 },
  );
  expect(confirmed).toBeGreaterThan(10);
});

const request: ResumeRequest = {
  requestId: 'r1',
  requestedBy: 'ada',
  reason: 'looked',
  seen: 'stop',
  createdAtMs: 10 * DAY_MS,
};
const present: Present = { seen: 'stop', operators: new Set(['ada', 'grace']), nowMs: 10 * DAY_MS };
const grace = { requestId: 'r1', userId: 'grace', seen: 'stop' };

test('a request ends with its cause, after a day, with the role of who made it, and under a clock that went back', () => {
  expect(statusOf(request, present)).toBe('open');
  expect(statusOf(request, { ...present, seen: 'stop again' })).toBe('changed');
  expect(statusOf(request, { ...present, nowMs: 11 * DAY_MS })).toBe('expired');
  expect(statusOf(request, { ...present, nowMs: 11 * DAY_MS - 1 })).toBe('open');
  expect(statusOf(request, { ...present, nowMs: 9 * DAY_MS })).toBe('expired');
  expect(statusOf(request, { ...present, operators: new Set(['grace']) })).toBe('void');
});

test('who is refused is told why', () => {
  expect(refusalOf(request, grace, present)).toBeUndefined();
  expect(refusalOf(undefined, grace, present)).toContain('is over');
  expect(refusalOf(request, { ...grace, requestId: 'r2' }, present)).toContain('is over');
  expect(refusalOf(request, { ...grace, userId: 'ada' }, present)).toContain('Another operator');
  expect(refusalOf(request, { ...grace, seen: 'before' }, present)).toContain('since you looked');
  expect(refusalOf(request, { ...grace, userId: 'eve' }, present)).toContain('no operator');
});
