import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClaimGrant, ClaimScheduler } from './claim-scheduler.ts';

/** No merchant gets more than a batch, however few there are. */
const LIMITS = { merchantsAtOnce: 8, batchSize: 50, sharedPart: 0.5, runningMax: 100, roomMin: 1 };

/** Takes scheduler until there is none left. */
function takeAll(scheduler: ClaimScheduler): ClaimGrant[] {
  const taken: ClaimGrant[] = [];
  for (let grant = scheduler.next(); grant !== undefined; grant = scheduler.next()) taken.push(grant);
  return taken;
}

describe('ClaimScheduler', () => {
  test('merchants are served in the order in which they came, each once', () => {
    const scheduler = new ClaimScheduler({ ...LIMITS, runningMax: 400 });
    for (const merchant of ['b', 'a', 'b', 'c']) scheduler.add(merchant);
    expect(takeAll(scheduler).map((grant) => grant.merchantId)).toEqual(['b', 'a', 'c']);
    expect(scheduler.isEmpty).toBe(true);
  });

  test('a full batch sends a merchant to the end of the queue, a short one out of it', () => {
    const scheduler = new ClaimScheduler({ ...LIMITS, merchantsAtOnce: 1 });
    scheduler.add('many');
    scheduler.add('few');
    const many = scheduler.next();
    expect(many).toEqual({ merchantId: 'many', limit: 50 });
    if (many) scheduler.claimed(many, 50);
    for (let n = 0; n < 50; n++) scheduler.ended('many');
    const few = scheduler.next();
    expect(few?.merchantId).toBe('few');
    if (few) scheduler.claimed(few, 3);
    expect(scheduler.next()?.merchantId).toBe('many');
    expect(scheduler.isEmpty).toBe(true);
  });

  test('a merchant whose batch is more than half full waits, and lets others pass', () => {
    const scheduler = new ClaimScheduler(LIMITS);
    scheduler.add('a');
    const [grant] = takeAll(scheduler);
    if (grant) scheduler.claimed(grant, 50);
    scheduler.add('b');
    const [other] = takeAll(scheduler);
    expect(other?.merchantId).toBe('b');
    if (other) scheduler.claimed(other, 0);
    for (let n = 0; n < 25; n++) scheduler.ended('a');
    expect(takeAll(scheduler)).toEqual([{ merchantId: 'a', limit: 25 }]);
  });

  test('few merchants share half of all room, many get a batch each', () => {
    const limits = { ...LIMITS, runningMax: 400 };
    for (const [merchants, share] of [
      [1, 200],
      [2, 100],
      [4, 50],
      [7, 50],
    ] as const) {
      const scheduler = new ClaimScheduler(limits);
      for (let n = 0; n < merchants; n++) scheduler.add(`m${n}`);
      expect(takeAll(scheduler)).toEqual(
        Array.from({ length: merchants }, (_, n) => ({ merchantId: `m${n}`, limit: share })),
      );
    }
  });

  test('a full worker claims nothing until enough room for a batch is free', () => {
    const scheduler = new ClaimScheduler({ ...LIMITS, runningMax: 1_000, roomMin: 25 });
    for (let n = 0; n < 20; n++) scheduler.add(`m${n}`);
    for (let taken = takeAll(scheduler); taken.length > 0; taken = takeAll(scheduler))
      for (const grant of taken) scheduler.claimed(grant, grant.limit);
    scheduler.add('next');
    for (let n = 0; n < 24; n++) scheduler.settled();
    expect(scheduler.next()).toBeUndefined();
    scheduler.settled();
    expect(scheduler.next()?.limit).toBe(25);
  });

  test('a merchant that is queued during its claim is claimed again afterwards', () => {
    const scheduler = new ClaimScheduler(LIMITS);
    scheduler.add('a');
    const [grant] = takeAll(scheduler);
    scheduler.add('a');
    expect(takeAll(scheduler)).toEqual([]);
    if (grant) scheduler.claimed(grant, 0);
    expect(takeAll(scheduler)).toHaveLength(1);
  });

  test('no sequence of events exceeds the limits, and all room is released', () => {
    const limits = { merchantsAtOnce: 3, batchSize: 4, sharedPart: 0.5, runningMax: 9, roomMin: 1 };
    const steps = fc.array(
      fc.record({ act: fc.constantFrom('add', 'claim', 'end'), merchant: fc.nat(5), share: fc.nat(4) }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, (events) => {
        const scheduler = new ClaimScheduler(limits);
        const open: ClaimGrant[] = [];
        const running: string[] = [];
        for (const { act, merchant, share } of events) {
          if (act === 'add') scheduler.add(`m${merchant}`);
          if (act === 'end' && running.length > 0) {
            scheduler.ended(running.shift() ?? '');
            scheduler.settled();
          }
          open.push(...takeAll(scheduler));
          expect(open.length).toBeLessThanOrEqual(limits.merchantsAtOnce);
          const reserved = open.reduce((sum, grant) => sum + grant.limit, 0);
          expect(reserved + running.length).toBeLessThanOrEqual(limits.runningMax);
          const grant = act === 'claim' ? open.shift() : undefined;
          if (grant === undefined) continue;
          const jobs = Math.min(share, grant.limit);
          scheduler.claimed(grant, jobs);
          running.push(...Array.from({ length: jobs }, () => grant.merchantId));
          const own = running.filter((merchantId) => merchantId === grant.merchantId);
          expect(own.length).toBeLessThanOrEqual(limits.batchSize);
        }
        for (const grant of open) scheduler.claimed(grant, 0);
        for (const merchantId of running) {
          scheduler.ended(merchantId);
          scheduler.settled();
        }
        scheduler.add('last');
        const after = takeAll(scheduler);
        expect(after.every((grant) => grant.limit === limits.batchSize || grant === after.at(-1))).toBe(true);
        expect(after).not.toHaveLength(0);
      }),
    );
  });
});
