/** What a token account held behind a slot, since which nothing has moved in it. */
export interface Known {
  amount: bigint;
  since: bigint;
}

/**
 * What is known of a token account. The scan that has found it out ended at `reportedAt`: whoever scans from a cursor there or
 * behind it has stored what it told. From an earlier cursor, that scan may have told nobody, and what was `previous` counts.
 */
export interface Mark extends Known {
  reportedAt: bigint;
  previous: Known;
  /** Where that scan told of transfers before its cursor: the slot behind which they lie. Null: it told of none. */
  lateFrom: bigint | null;
  /**
   * We have built a sweep of it and not read yet that coins have left. A deposit of the same amount behind the sweep would leave the
   * balance as it was: until then its transactions are read whatever it holds.
   */
  isLeaving: boolean;
}

/** Durable, for each token account of a merchant's deposit addresses. */
export interface Marks {
  /** Those that are known. */
  find(accounts: readonly string[]): Promise<ReadonlyMap<string, Mark>>;
  /** @param found as they were before the scan: an account that has begun to leave meanwhile is still leaving */
  save(marks: ReadonlyMap<string, Mark>, found: ReadonlyMap<string, Mark>): Promise<void>;
  /** Sets `isLeaving` of those that are known. */
  noteLeaving(accounts: readonly string[]): Promise<void>;
}

/** Before the first slot. */
const NOWHERE = -1n;
const NOTHING: Known = { amount: 0n, since: NOWHERE };
/** Of an account that no scan has found anything in. */
export const NO_MARK: Mark = {
  ...NOTHING,
  reportedAt: NOWHERE,
  previous: NOTHING,
  lateFrom: null,
  isLeaving: false,
};

const pick = ({ amount, since }: Known): Known => ({ amount, since });
const isAgain = (mark: Mark, cursor: bigint) => cursor < mark.reportedAt;
const knownOf = (mark: Mark, cursor: bigint): Known => (isAgain(mark, cursor) ? mark.previous : mark);

/**
 * Where to begin reading the transactions of an account.
 *
 * @param amount what it holds, as of a slot that is not below the last one to read; undefined: it is not on the chain
 * @param cursor the slot behind which the caller has stored everything of other accounts
 * @returns the slot behind which to read; undefined: nothing has moved since what was reported
 */
export function readFrom(mark: Mark, amount: bigint | undefined, cursor: bigint): bigint | undefined {
  if (!isAgain(mark, cursor) && !mark.isLeaving && mark.amount === (amount ?? 0n)) return undefined;
  const { since } = knownOf(mark, cursor);
  return since < cursor ? since : cursor;
}

/** The slot up to which the caller has been told of an account's transfers, though its cursor is behind it. */
export function reportedTo(mark: Mark, cursor: bigint): bigint {
  return isAgain(mark, cursor) ? (mark.lateFrom ?? cursor) : mark.since;
}

/** What was read of an account, up to the slot of the answer. */
export interface AccountReading {
  cursor: bigint;
  amount: bigint | undefined;
  /** Where reading began. */
  from: bigint;
  /** Slots of all transactions behind it that the node lists, also of those above the answer's. */
  slots: readonly bigint[];
  /** By how much those up to the answer's slot have changed the balance. */
  change: bigint;
  /** The answer's slot. */
  upTo: bigint;
  /** Whether the answer tells of transfers of it before the cursor. */
  hasLate: boolean;
  /** Whether one of these transactions has taken coins out of it. */
  hasLeft: boolean;
  /** Some of them, or what it holds, could not be read. */
  isPartial: boolean;
}

export interface NextMark {
  /** Undefined: the mark stays as it is. */
  mark?: Mark;
  /** What was read does not add up to what the account holds. */
  hasGap: boolean;
}

/**
 * The mark after a scan. It moves only where all that was read adds up to what the account holds: a node that leaves a
 * transaction out, or has not listed it yet, makes the account be read again and nothing be lost.
 */
export function nextMark(mark: Mark, reading: AccountReading): NextMark {
  const { cursor, amount = 0n, from, slots, change, upTo, hasLate, hasLeft } = reading;
  const known = knownOf(mark, cursor);
  if (reading.isPartial) return { ...forgotten(mark, cursor), hasGap: true };
  // From an earlier place no sum can be compared: somebody reads what was read before.
  if (from !== known.since) return { hasGap: false };
  const isBehind = slots.some((slot) => slot > upTo);
  const hasGap = !isBehind && known.amount + change !== amount;
  const isLeaving = mark.isLeaving && !(hasLeft && !hasGap);
  if (isBehind || hasGap) {
    return { ...forgotten(mark, cursor), hasGap };
  }
  if (slots.length === 0 && !isAgain(mark, cursor)) return { hasGap };
  const since = slots.reduce((a, b) => (b > a ? b : a), from);
  const lateFrom = hasLate ? from : null;
  return {
    mark: { amount, since, reportedAt: upTo, previous: pick(known), lateFrom, isLeaving },
    hasGap,
  };
}

/**
 * The mark of a scan that may have told nobody is forgotten where another one could not read the same again; and so is what the balance
 * seems to say.
 */
function forgotten(mark: Mark, cursor: bigint): Pick<NextMark, 'mark'> {
  if (!isAgain(mark, cursor)) return {};
  const known = pick(knownOf(mark, cursor));
  return { mark: { ...NO_MARK, ...known, previous: known, isLeaving: true } };
}
