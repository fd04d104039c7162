import fc from 'fast-check';
import { expect, test } from 'vitest';
import { roleNamed } from '../roles.ts';
import { admitTry, isProofStale, isSessionAlive, matchingStep, stepAt, TRIES } from './decisions.ts';
import { leavesNoOwner } from './members.ts';

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;
const age = fc.integer({ min: -30 * MINUTE, max: 24 * 60 * MINUTE });

test('F1: a session lives 12 hours at most, 30 minutes idle where it moves money, and never after its end', () => {
  fc.assert(
    fc.property(age, age, fc.boolean(), fc.option(age), (sinceMade, sinceSeen, movesMoney, ended) => {
      const session = {
        createdAtMs: NOW - sinceMade,
        seenAtMs: NOW - sinceSeen,
        endedAtMs: ended === null ? null : NOW - ended,
      };
      const isAlive = isSessionAlive(session, NOW, movesMoney);
      if (ended !== null || sinceMade >= 12 * 60 * MINUTE) expect(isAlive).toBe(false);
      if (movesMoney && sinceSeen >= 30 * MINUTE) expect(isAlive).toBe(false);
      // Of a clock that was ahead.
      if (sinceMade < -MINUTE || sinceSeen < -MINUTE) expect(isAlive).toBe(false);
      if (ended === null && sinceMade >= 0 && sinceMade < 12 * 60 * MINUTE && sinceSeen >= 0)
        expect(isAlive).toBe(!movesMoney || sinceSeen < 30 * MINUTE);
    }),
  );
});

test('a proof is fresh for 5 minutes', () => {
  fc.assert(
    fc.property(age, (since) => {
      expect(isProofStale(NOW - since, NOW)).toBe(since >= 5 * MINUTE || since < -MINUTE);
    }),
  );
});

test('F7: however tries come, no 15 minutes have more than their number, and the first after a pause is admitted', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 6 * MINUTE }), { maxLength: 80 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 30 }), (pauses, max) => {
      const limit = { max, windowMs: 15 * MINUTE };
      let now = NOW;
      let kept: number[] = [];
      const admitted: number[] = [];
      for (const pause of pauses) {
        now += pause;
        const next = admitTry(kept, now, limit);
        const inWindow = admitted.filter((time) => now - time < 15 * MINUTE).length;
        expect(next === undefined).toBe(inWindow >= max);
        if (next === undefined) continue;
        admitted.push(now);
        kept = next;
        expect(kept.length).toBeLessThanOrEqual(max);
      }
      expect(admitTry(kept, now + 15 * MINUTE, limit)).toEqual([now + 15 * MINUTE]);
    }),
  );
});

test('F5: a code counts in its period and the ones beside it, and never again once it or a later one was taken', () => {
  const codeAt = (step: number) => String(step % 1_000_000).padStart(6, '0');
  fc.assert(
    fc.property(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -4, max: 4 }), (given, used) => {
      const now = stepAt(NOW);
      const step = matchingStep(codeAt, codeAt(now + given), NOW, now + used);
      expect(step).toBe(Math.abs(given) <= 1 && given > used ? now + given : undefined);
    }),
  );
});

test('whatever is changed one by one, an owner is left', () => {
  const role = fc.constantFrom(...['owner', 'admin', 'viewer', 'own'].map((name) => roleNamed(name, null)));
  const change = fc.record({ id: fc.nat({ max: 5 }), role: fc.option(role) });
  fc.assert(
    fc.property(fc.array(role, { minLength: 1, maxLength: 6 }), fc.array(change), (roles, changes) => {
      const members = new Map([roleNamed('owner', null), ...roles].map((one, id) => [String(id), one]));
      for (const { id, role: next } of changes) {
        if (!members.has(String(id)) || leavesNoOwner(members, String(id), next)) continue;
        if (next === null) members.delete(String(id));
        else members.set(String(id), next);
      }
      expect([...members.values()].map(({ name }) => name)).toContain('owner');
    }),
  );
});

test('F5: a million guesses of a code take 90 years, and a year of guessing finds one in 30 times', () => {
  let [short, day]: number[][] = [[], []];
  let admitted = 0;
  const days = 30;
  // Somebody who knows the password tries every 20 seconds, on all nodes together.
  const tries = (days * 24 * 60 * MINUTE) / 20_000;
  for (let i = 0; i < tries; i += 1) {
    const nowMs = NOW + i * 20_000;
    const next = admitTry(short ?? [], nowMs, TRIES.factor);
    if (next === undefined) continue;
    short = next;
    const ofDay = admitTry(day ?? [], nowMs, TRIES.factor_day);
    if (ofDay === undefined) continue;
    day = ofDay;
    admitted += 1;
  }
  expect(tries).toBeGreaterThan(100_000);
  expect(admitted / days).toBe(TRIES.factor_day.max);
  expect(1_000_000 / (admitted / days) / 365).toBeGreaterThan(90);
  // Three codes of a million are right at any time.
  expect((365 * TRIES.factor_day.max * 3) / 1_000_000).toBeLessThan(1 / 30);
});
