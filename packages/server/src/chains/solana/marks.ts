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
   * The newest slot when we last built a sweep of it that may still be on its way; null: none is. A deposit of the same amount behind the
   * sweep would leave the balance as it was: until then its transactions are read whatever it holds.
   */
  leavingSince: bigint | null;
  /**
   * The first attempt that was to empty it, until it is empty. That one alone closes the account: one unit that comes between reading and
   * block makes a transaction fail that closes what is not empty, and whoever sends it could do so each time.
   */
  sweptBy: string | null;
}

/** Durable, for each token account of a merchant's deposit addresses. */
export interface Marks {
  /** Those that are known. */
  find(accounts: readonly string[]): Promise<ReadonlyMap<string, Mark>>;
  /** The owners of accounts that a scan beyond that slot has reported, and whose caller may have stored none of it. */
  reportedBehind(cursor: bigint): Promise<readonly string[]>;
  /** @param found as they were before the scan: an account that has begun to leave meanwhile is still leaving */
  save(marks: ReadonlyMap<string, Mark>, found: ReadonlyMap<string, Mark>): Promise<void>;
  /**
   * Sets `leavingSince`, also of accounts without a mark; a higher slot stays, and so does an earlier attempt.
   *
   * @returns those that this attempt was the first to empty
   */
  noteLeaving(accounts: readonly string[], sweep: { slot: bigint; by: string }): Promise<ReadonlySet<string>>;
}

/** Before the first slot. */
const NOWHERE = -1n;
const NOTHING: Known = { amount: 0n, since: NOWHERE };
/** So long after it was built no sweep can land: its blockhash is good for 150 blocks, and most slots have one. */
const LANDING_SLOTS = 2_000n;
/** Of an account that no scan has found anything in. */
export const NO_MARK: Mark = {
  ...NOTHING,
  reportedAt: NOWHERE,
  previous: NOTHING,
  lateFrom: null,
  leavingSince: null,
  sweptBy: null,
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
  if (!isAgain(mark, cursor) && mark.leavingSince === null && mark.amount === (amount ?? 0n))
    return undefined;
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
  /** The last slot in which one of these transactions has taken coins out of it; null: none has. */
  leftAt: bigint | null;
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
  const { cursor, amount = 0n, from, slots, change, upTo, hasLate } = reading;
  const known = knownOf(mark, cursor);
  if (reading.isPartial) return { ...forgotten(mark, reading), hasGap: true };
  // From an earlier place no sum can be compared: somebody reads what was read before.
  if (from !== known.since) return { hasGap: false };
  const isBehind = slots.some((slot) => slot > upTo);
  const hasGap = !isBehind && known.amount + change !== amount;
  if (isBehind || hasGap) {
    return { ...forgotten(mark, reading), hasGap };
  }
  const leavingSince = isOver(mark, reading) ? null : mark.leavingSince;
  const sweptBy = isEmptied(mark, reading) ? null : mark.sweptBy;
  const isSame = slots.length === 0 && leavingSince === mark.leavingSince;
  if (isSame && !isAgain(mark, cursor)) return { hasGap };
  const since = slots.reduce((a, b) => (b > a ? b : a), from);
  const lateFrom = hasLate ? from : null;
  return {
    mark: { amount, since, reportedAt: upTo, previous: pick(known), lateFrom, leavingSince, sweptBy },
    hasGap,
  };
}

/**
 * The mark of a scan that may have told nobody is forgotten where another one could not read the same again; and so is what the balance
 * seems to say.
 */
function forgotten(mark: Mark, { cursor, upTo }: AccountReading): Pick<NextMark, 'mark'> {
  if (!isAgain(mark, cursor)) return {};
  const known = pick(knownOf(mark, cursor));
  const leavingSince = mark.leavingSince !== null && mark.leavingSince > upTo ? mark.leavingSince : upTo;
  return { mark: { ...NO_MARK, ...known, previous: known, leavingSince, sweptBy: mark.sweptBy } };
}

/**
 * Whether no sweep of it is on its way any more, of an account that was read whole: coins have left behind the last one that was built, and
 * it is empty, so that no earlier one has still to come; or too much time has passed for any.
 */
function isOver(mark: Mark, reading: AccountReading): boolean {
  const { leavingSince } = mark;
  return leavingSince === null || reading.upTo >= leavingSince + LANDING_SLOTS || isEmptied(mark, reading);
}

/** Whether the last sweep that was built has emptied it. */
function isEmptied({ leavingSince }: Mark, { amount = 0n, leftAt }: AccountReading): boolean {
  return leavingSince !== null && amount === 0n && leftAt !== null && leftAt > leavingSince;
}
