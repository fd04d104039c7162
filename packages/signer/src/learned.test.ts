import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Memory } from './memory.ts';
import { BEFORE_MAX } from './protocol.ts';
import { readSignRequest } from './schemas.ts';
import { accounts, Bench, request, START } from './test-requests.ts';

const DAY_MS = 86_400_000;

/** An empty payment of the wallet to itself, which costs next to nothing, with the ids of earlier attempts. */
function withBefore(account: number, before: readonly string[], from = 0) {
  const ordinal = from + before.length;
  const asked = request({
    account,
    ordinal,
    bytes: { to: accounts.hot(account).address, gas: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    purpose: { kind: 'fill' },
  });
  return { ...asked, attempt: { ...asked.attempt, before } };
}

const ids = (account: number, count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `attempt ${account} ${from + i}`);

test('invented attempts do not fill journal and memory: a day has room for so many, and the next one again', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          account: fc.integer({ min: 1, max: 3 }),
          count: fc.nat({ max: BEFORE_MAX }),
          hours: fc.nat({ max: 9 }),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      (asks) => {
        const bench = new Bench((policy) => (policy.learned_per_day = 30_000));
        const next = new Map<number, number>();
        const learned: { at: number; count: number }[] = [];
        for (const { account, count, hours } of asks) {
          bench.now += hours * 3_600_000;
          const from = next.get(account) ?? 0;
          // From the last one that is known on.
          const lowest = Math.max(0, from - 1);
          const before = ids(account, count + from - lowest, lowest);
          const outcome = bench.outcome(withBefore(account, before, lowest));
          const used = learned
            .filter(({ at }) => at + DAY_MS > bench.now)
            .reduce((sum, one) => sum + one.count, 0);
          expect(outcome).toBe(count > 0 && used + count > 30_000 ? 'limit' : 'signed');
          if (outcome !== 'signed') continue;
          learned.push({ at: bench.now, count });
          next.set(account, from + count + 1);
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('a server whose signer has a new journal gets each wallet taken over, if need be over several days', () => {
  const bench = new Bench();
  const waiting = [1, 2, 3, 4, 5].map((account) => withBefore(account, ids(account, BEFORE_MAX)));
  const signed: number[] = [];
  for (let day = 0; waiting.length > 0; day++) {
    bench.now = START + day * DAY_MS;
    const rest = waiting.splice(0);
    for (const one of rest) if (bench.outcome(one) !== 'signed') waiting.push(one);
    signed.push(rest.length - waiting.length);
  }
  expect(signed).toEqual([2, 2, 1]);
  // What is known costs nothing, whichever list comes with it.
  expect(bench.outcome(withBefore(1, ids(1, BEFORE_MAX)))).toBe('signed');
  const all = new Bench((policy) => (policy.learned_per_day = 1_000_000));
  for (let account = 1; account <= 5; account++)
    expect(all.outcome(withBefore(account, ids(account, BEFORE_MAX)))).toBe('signed');
});

test('the sum of a day comes from the journal, also of one that an earlier version wrote', () => {
  const bench = new Bench();
  const { entry } = bench.ask(withBefore(1, ids(1, BEFORE_MAX)));
  const memory = new Memory();
  if (entry !== null) memory.apply(JSON.parse(JSON.stringify(entry)));
  expect(memory.day('learned').total(START)).toBe(BigInt(BEFORE_MAX));
  expect(memory.day('learned').total(START + DAY_MS)).toBe(0n);
});

test('an id of an attempt has 64 characters at most', () => {
  const asked = withBefore(1, ['a']);
  const read = (attempt: object) => () =>
    readSignRequest({ ...asked, attempt: { ...asked.attempt, ...attempt } });
  const [most, more] = ['a'.repeat(64), 'a'.repeat(65)];
  expect(read({ before: [most], previous: most, attemptId: most })).not.toThrow();
  for (const field of [{ before: [more] }, { previous: more }, { attemptId: more }])
    expect(read(field)).toThrow('attempt');
});
