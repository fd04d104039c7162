import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Turn, Turns } from './turns.ts';

/** No merchant gets more than a batch, however few there are. */
const LIMITS = { merchantsAtOnce: 8, batchSize: 50, sharedPart: 0.5, runningMax: 100, roomMin: 1 };

/** Takes turns until there is none left. */
function takeAll(turns: Turns): Turn[] {
  const taken: Turn[] = [];
  for (let turn = turns.next(); turn !== undefined; turn = turns.next()) taken.push(turn);
  return taken;
}

describe('whose turn it is', () => {
  test('merchants are served in the order in which they came, each once', () => {
    const turns = new Turns({ ...LIMITS, runningMax: 400 });
    for (const merchant of ['b', 'a', 'b', 'c']) turns.add(merchant);
    expect(takeAll(turns).map((turn) => turn.merchantId)).toEqual(['b', 'a', 'c']);
    expect(turns.isEmpty).toBe(true);
  });

  test('a full batch sends a merchant to the end of the queue, a short one out of it', () => {
    const turns = new Turns({ ...LIMITS, merchantsAtOnce: 1 });
    turns.add('many');
    turns.add('few');
    const many = turns.next();
    expect(many).toEqual({ merchantId: 'many', limit: 50 });
    if (many) turns.claimed(many, 50);
    for (let n = 0; n < 50; n++) turns.ended('many');
    const few = turns.next();
    expect(few?.merchantId).toBe('few');
    if (few) turns.claimed(few, 3);
    expect(turns.next()?.merchantId).toBe('many');
    expect(turns.isEmpty).toBe(true);
  });

  test('a merchant whose batch is more than half full waits, and lets others pass', () => {
    const turns = new Turns(LIMITS);
    turns.add('a');
    const [turn] = takeAll(turns);
    if (turn) turns.claimed(turn, 50);
    turns.add('b');
    const [other] = takeAll(turns);
    expect(other?.merchantId).toBe('b');
    if (other) turns.claimed(other, 0);
    for (let n = 0; n < 25; n++) turns.ended('a');
    expect(takeAll(turns)).toEqual([{ merchantId: 'a', limit: 25 }]);
  });

  test('few merchants divide half of all room, many get a batch each', () => {
    const limits = { ...LIMITS, runningMax: 400 };
    for (const [merchants, share] of [
      [1, 200],
      [2, 100],
      [4, 50],
      [7, 50],
    ] as const) {
      const turns = new Turns(limits);
      for (let n = 0; n < merchants; n++) turns.add(`m${n}`);
      expect(takeAll(turns)).toEqual(
        Array.from({ length: merchants }, (_, n) => ({ merchantId: `m${n}`, limit: share })),
      );
    }
  });

  test('where all room is taken, nobody gets it job by job as it comes back', () => {
    const turns = new Turns({ ...LIMITS, runningMax: 1_000, roomMin: 25 });
    for (let n = 0; n < 20; n++) turns.add(`m${n}`);
    for (let taken = takeAll(turns); taken.length > 0; taken = takeAll(turns))
      for (const turn of taken) turns.claimed(turn, turn.limit);
    turns.add('next');
    for (let n = 0; n < 24; n++) turns.settled();
    expect(turns.next()).toBeUndefined();
    turns.settled();
    expect(turns.next()?.limit).toBe(25);
  });

  test('a call that comes during a claim is kept for afterwards', () => {
    const turns = new Turns(LIMITS);
    turns.add('a');
    const [turn] = takeAll(turns);
    turns.add('a');
    expect(takeAll(turns)).toEqual([]);
    if (turn) turns.claimed(turn, 0);
    expect(takeAll(turns)).toHaveLength(1);
  });

  test('no run of events takes more than the limits, and all room comes back', () => {
    const limits = { merchantsAtOnce: 3, batchSize: 4, sharedPart: 0.5, runningMax: 9, roomMin: 1 };
    const steps = fc.array(
      fc.record({ act: fc.constantFrom('add', 'claim', 'end'), merchant: fc.nat(5), share: fc.nat(4) }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, (events) => {
        const turns = new Turns(limits);
        const open: Turn[] = [];
        const running: string[] = [];
        for (const { act, merchant, share } of events) {
          if (act === 'add') turns.add(`m${merchant}`);
          if (act === 'end' && running.length > 0) {
            turns.ended(running.shift() ?? '');
            turns.settled();
          }
          open.push(...takeAll(turns));
          expect(open.length).toBeLessThanOrEqual(limits.merchantsAtOnce);
          const reserved = open.reduce((sum, turn) => sum + turn.limit, 0);
          expect(reserved + running.length).toBeLessThanOrEqual(limits.runningMax);
          const turn = act === 'claim' ? open.shift() : undefined;
          if (turn === undefined) continue;
          const jobs = Math.min(share, turn.limit);
          turns.claimed(turn, jobs);
          running.push(...Array.from({ length: jobs }, () => turn.merchantId));
          const own = running.filter((merchantId) => merchantId === turn.merchantId);
          expect(own.length).toBeLessThanOrEqual(limits.batchSize);
        }
        for (const turn of open) turns.claimed(turn, 0);
        for (const merchantId of running) {
          turns.ended(merchantId);
          turns.settled();
        }
        turns.add('last');
        const after = takeAll(turns);
        expect(after.every((turn) => turn.limit === limits.batchSize || turn === after.at(-1))).toBe(true);
        expect(after).not.toHaveLength(0);
      }),
    );
  });
});
