import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type NumberedAttempt, placeAttempt } from './numbering.ts';

/** A wallet's attempts as numbered by one database. */
type Branch = readonly string[];

/** The holder of one wallet, called as the port specifies. */
class Holder {
  readonly known = new Map<bigint, string>();
  readonly signed = new Set<string>();

  /** @returns whether it was signed */
  ask(branch: Branch, ordinal: number, first: number): boolean {
    const last = this.#judge(branch, ordinal, first);
    if (last.is !== 'placed') return false;
    for (const [number, id] of last.added) this.known.set(number, id);
    this.signed.add(branch[ordinal] ?? '');
    return true;
  }

  /** Whether it would be signed, if a limit did not refuse it: a refusal is remembered nowhere. */
  places(branch: Branch, ordinal: number, first: number): boolean {
    return this.#judge(branch, ordinal, first).is === 'placed';
  }

  #judge(branch: Branch, ordinal: number, first: number) {
    const attemptId = branch[ordinal] ?? '';
    const previous = branch.slice(Math.max(0, ordinal - 1), ordinal);
    const bare = { ordinal: BigInt(ordinal), attemptId, before: previous, isWhole: ordinal === 0 };
    const outcome = this.#place(bare);
    const gap = outcome.is === 'gap' ? outcome : undefined;
    const from = gap?.from === null ? first : Number(gap?.from);
    const full = { ...bare, before: branch.slice(from, ordinal), isWhole: gap?.from === null };
    return gap === undefined ? outcome : this.#place(full);
  }

  #place(asked: NumberedAttempt) {
    const numbers = [...this.known.keys()];
    const last = numbers.reduce<bigint | null>((max, one) => (max === null || one > max ? one : max), null);
    return placeAttempt({ last, known: this.known }, asked);
  }
}

const histories = fc
  .record({
    first: fc.nat({ max: 3 }),
    shared: fc.nat({ max: 4 }),
    original: fc.integer({ min: 1, max: 6 }),
    copy: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ first, shared, original, copy }) => {
    const branch = (name: string, own: number): Branch =>
      Array.from({ length: first + shared + own }, (_, i) =>
        i < first + shared ? `both ${i}` : `${name} ${i}`,
      );
    return { first, shared: first + shared, branches: [branch('original', original), branch('copy', copy)] };
  });

describe('numbers of a wallet', () => {
  test('what is refused for another reason keeps its number: however often it is asked for, nobody learns more ids than there are charges', () => {
    const asks = fc.array(fc.record({ at: fc.nat({ max: 9 }), isSigned: fc.boolean() }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), asks, (count, tries) => {
        const holder = new Holder();
        const branch = Array.from({ length: count }, (_, i) => `charge ${i}`);
        for (const { at, isSigned } of tries)
          expect(isSigned ? holder.ask(branch, at % count, 0) : holder.places(branch, at % count, 0)).toBe(
            true,
          );
        for (let n = 0; n < count; n++) expect(holder.ask(branch, n, 0)).toBe(true);
        expect(holder.known.size).toBe(count);
      }),
      { numRuns: 500 },
    );
  });

  test('fault 76: whatever the order of their requests, only one of two copies gets signatures that the other lacks', () => {
    fc.assert(
      fc.property(
        histories,
        fc.array(fc.tuple(fc.nat({ max: 1 }), fc.nat({ max: 12 })), { minLength: 1, maxLength: 40 }),
        ({ first, branches }, asks) => {
          const holder = new Holder();
          for (const [which, at] of asks) {
            const branch = branches[which] ?? [];
            holder.ask(branch, first + (at % (branch.length - first)), first);
          }
          const own = (name: string) => [...holder.signed].filter((id) => id.startsWith(name));
          expect(Math.min(own('original').length, own('copy').length)).toBe(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a database without a copy gets all of its attempts signed, whatever the order and repetition of its requests', () => {
    fc.assert(
      fc.property(
        histories,
        fc.array(fc.nat({ max: 12 }), { maxLength: 40 }),
        ({ first, branches }, asks) => {
          const holder = new Holder();
          const [branch = []] = branches;
          for (const at of asks)
            expect(holder.ask(branch, first + (at % (branch.length - first)), first)).toBe(true);
          for (let n = first; n < branch.length; n++) expect(holder.ask(branch, n, first)).toBe(true);
          expect([...holder.known.values()].toSorted()).toEqual(branch.slice(first).toSorted());
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
