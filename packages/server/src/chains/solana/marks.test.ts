import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Mark, NO_MARK, nextMark, readFrom, reportedTo } from './marks.ts';

interface Event {
  slot: bigint;
  /** Below 0: a sweep of ours. */
  change: bigint;
}

type Scan =
  /**
   * `hidden`: the node does not list the newest deposits yet. `stored`: the caller keeps what it is told. `unread`: the account could not
   * be read, and others could.
   */
  { slots: number; hidden: number; stored: boolean; unread?: boolean };

const scans = fc.array(
  fc.record({
    slots: fc.integer({ min: 0, max: 6 }),
    hidden: fc.nat(2),
    stored: fc.boolean(),
    unread: fc.boolean(),
  }),
  { maxLength: 12 },
);
const deposits = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 4 }), sweeps: fc.boolean() }), {
  maxLength: 12,
});

/** Deposits, some of which are swept in a slot behind them. Amounts differ in each bit, so that no sums are alike by chance. */
function historyOf(list: readonly { gap: number; sweeps: boolean }[]): Event[] {
  const events: Event[] = [];
  let slot = 0n;
  let held = 0n;
  for (const [place, { gap, sweeps }] of list.entries()) {
    slot += BigInt(gap);
    const change = 1n << BigInt(place);
    held += change;
    events.push({ slot, change });
    if (!sweeps) continue;
    slot += 1n;
    events.push({ slot, change: -held });
    held = 0n;
  }
  return events;
}

/** One account, as a scan reads it and a caller stores what it is told. */
class Account {
  cursor = -1n;
  upTo = -1n;
  mark: Mark = NO_MARK;
  /** Places of deposits in the history. */
  readonly stored = new Set<number>();
  reads = 0;
  readonly #events: readonly Event[];

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  scan({ slots, hidden, stored, unread = false }: Scan): void {
    const before = this.upTo;
    this.upTo += BigInt(slots);
    // A scan up to its own cursor reads nothing.
    if (this.upTo <= this.cursor) return;
    const past = this.#events.filter(({ slot }) => slot <= this.upTo);
    // A sweep is noted before it is signed, which is after the last deposit that it takes was seen.
    for (const { slot, change } of past)
      if (change < 0n && slot > before) this.mark = { ...this.mark, leavingSince: slot - 1n };
    const amount = past.length === 0 ? undefined : past.reduce((sum, { change }) => sum + change, 0n);
    if (unread) {
      this.#leaveUnread(stored);
      return;
    }
    const from = readFrom(this.mark, amount, this.cursor);
    if (from === undefined) {
      if (stored) this.cursor = this.upTo;
      return;
    }
    this.reads += 1;
    const unlisted = past.filter(({ change }) => change > 0n).slice(past.length - hidden);
    const listed = past.filter((event) => event.slot > from && !(hidden > 0 && unlisted.includes(event)));
    const isTold = ({ slot, change }: Event) =>
      change > 0n && (slot > this.cursor || slot > reportedTo(this.mark, this.cursor));
    const told = listed.filter(isTold);
    const { mark } = nextMark(this.mark, {
      cursor: this.cursor,
      amount,
      from,
      slots: listed.map(({ slot }) => slot),
      change: listed.reduce((sum, { change }) => sum + change, 0n),
      upTo: this.upTo,
      hasLate: told.some(({ slot }) => slot <= this.cursor),
      leftAt: listed.findLast(({ change }) => change < 0n)?.slot ?? null,
      isPartial: false,
    });
    // The marks are saved before the caller has stored anything.
    if (mark !== undefined) this.mark = mark;
    if (!stored) return;
    for (const event of told) this.stored.add(this.#events.indexOf(event));
    this.cursor = this.upTo;
  }

  #leaveUnread(stored: boolean): void {
    const { cursor, upTo } = this;
    const nothing = { from: cursor, slots: [], change: 0n, hasLate: false, leftAt: null };
    const { mark } = nextMark(this.mark, { ...nothing, cursor, upTo, amount: undefined, isPartial: true });
    if (mark !== undefined) this.mark = mark;
    if (stored) this.cursor = upTo;
  }
}

describe('marks of token accounts', () => {
  test('every deposit is told to a caller that stores it, whatever nodes hide and wherever callers die', () => {
    fc.assert(
      fc.property(deposits, scans, (list, steps) => {
        const events = historyOf(list);
        const account = new Account(events);
        for (const step of steps) account.scan(step);
        for (let i = 0; i < 3; i++) account.scan({ slots: 100, hidden: 0, stored: true });
        const wanted = events.flatMap(({ change }, place) => (change > 0n ? [place] : []));
        expect([...account.stored].sort((a, b) => a - b)).toEqual(wanted);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an account in which nothing moves is not read again', () => {
    fc.assert(
      fc.property(deposits, (list) => {
        const events = historyOf(list.map(({ gap }) => ({ gap, sweeps: false })));
        const account = new Account(events);
        for (let i = 0; i < 3; i++) account.scan({ slots: 100, hidden: 0, stored: true });
        const { reads } = account;
        for (let i = 0; i < 3; i++) account.scan({ slots: 100, hidden: 0, stored: true });
        expect(account.reads).toBe(reads);
        expect(reads).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('a deposit of what was swept just before is read, though the balance is as it was', () => {
    const events = [
      { slot: 1n, change: 5n },
      { slot: 11n, change: -5n },
      { slot: 12n, change: 5n },
    ];
    const account = new Account(events);
    account.scan({ slots: 5, hidden: 0, stored: true });
    account.scan({ slots: 20, hidden: 0, stored: true });
    expect([...account.stored]).toEqual([0, 2]);
  });

  test('amounts that do not add up keep the mark where it was', () => {
    const previous = { amount: 0n, since: -1n };
    const mark: Mark = { ...NO_MARK, amount: 5n, since: 3n, reportedAt: 10n, previous };
    const reading = {
      cursor: 10n,
      amount: 9n,
      from: 3n,
      slots: [12n],
      change: 3n,
      upTo: 20n,
      hasLate: false,
      leftAt: null,
      isPartial: false,
    };
    expect(nextMark(mark, reading)).toEqual({ hasGap: true });
    const whole = { ...reading, change: 4n };
    const next = {
      amount: 9n,
      since: 12n,
      reportedAt: 20n,
      lateFrom: null,
      previous: { amount: 5n, since: 3n },
    };
    expect(nextMark(mark, whole)).toMatchObject({ mark: next, hasGap: false });
    expect(nextMark(mark, { ...whole, slots: [12n, 21n] })).toEqual({ hasGap: false });
    expect(nextMark(mark, { ...whole, from: 2n })).toEqual({ hasGap: false });
    // Again from before the scan that made the mark, and the node shows less now: the mark is forgotten.
    const again = { ...reading, cursor: 9n, from: -1n };
    expect(nextMark(mark, again)).toMatchObject({ mark: { ...previous, reportedAt: -1n }, hasGap: true });
  });

  test('the end of an earlier sweep does not stand for a later one', () => {
    const previous = { amount: 0n, since: -1n };
    const mark: Mark = {
      ...NO_MARK,
      amount: 7n,
      since: 3n,
      reportedAt: 10n,
      previous,
      leavingSince: 12n,
      sweptBy: 'a',
    };
    const base = { cursor: 10n, from: 3n, hasLate: false, isPartial: false, upTo: 20n } as const;
    const after = (leftAt: bigint, amount: bigint, upTo = 20n) =>
      nextMark(mark, { ...base, amount, change: amount - 7n, slots: [leftAt], leftAt, upTo }).mark;
    // The coins that left are those of a sweep before it.
    expect(after(11n, 0n)).toMatchObject({ leavingSince: 12n, sweptBy: 'a' });
    // Of two that are on their way, the other may still come.
    expect(after(13n, 5n)).toMatchObject({ leavingSince: 12n, sweptBy: 'a' });
    expect(after(13n, 0n)).toMatchObject({ leavingSince: null, sweptBy: null });
    // Over, and not empty: it may have failed as it was to close the account.
    expect(after(13n, 5n, 2_012n)).toMatchObject({ leavingSince: null, sweptBy: 'a' });
    const idle = { ...base, amount: 7n, change: 0n, slots: [], leftAt: null };
    expect(nextMark(mark, idle).mark).toBeUndefined();
    expect(nextMark(mark, { ...idle, upTo: 2_012n }).mark?.leavingSince).toBeNull();
  });
});
