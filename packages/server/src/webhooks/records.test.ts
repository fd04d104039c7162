import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EndedAttempt, healthChanges } from './records.ts';

const ended = (endpointId: string, health: EndedAttempt['health'], beganMs: number): EndedAttempt => ({
  endpointId,
  health,
  beganMs,
  eventId: 'e',
  seriesBefore: 0,
  next: { status: 'pending', seriesAttempts: 1, dueAt: 0 },
  attempt: '{}',
});

test('attempts written together change the health as they would one after the other', () => {
  const kinds = fc.constantFrom('none', 'acknowledged', 'failed') as fc.Arbitrary<EndedAttempt['health']>;
  const attempts = fc.array(fc.tuple(fc.constantFrom('a', 'b'), kinds), { maxLength: 12 });
  fc.assert(
    fc.property(attempts, fc.nat(9), (list, before) => {
      const batch = list.map(([endpointId, health], i) => ended(endpointId, health, 1_000 + i));
      const together = new Map(healthChanges(batch).map((change) => [change.endpointId, change]));
      for (const endpointId of ['a', 'b']) {
        let [failures, since] = [before, before > 0 ? 500 : null];
        for (const attempt of batch.filter((one) => one.endpointId === endpointId)) {
          if (attempt.health === 'acknowledged') [failures, since] = [0, null];
          if (attempt.health === 'failed') [failures, since] = [failures + 1, since ?? attempt.beganMs];
        }
        const change = together.get(endpointId);
        const kept = change?.acknowledged
          ? { failures: 0, since: null }
          : { failures: before, since: before > 0 ? 500 : null };
        expect(kept.failures + (change?.failures ?? 0)).toBe(failures);
        expect(kept.since ?? change?.failingSinceMs ?? null).toBe(since);
      }
    }),
  );
});
