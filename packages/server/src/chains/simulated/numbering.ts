/** What is known of the attempts of a wallet in one history: they are numbered without a gap. */
export interface Numbering {
  /** The highest number; null: none. */
  last: bigint | null;
  /** Attempts by their numbers, at least of all that are asked about. */
  known: ReadonlyMap<bigint, string>;
}

/** An attempt that is to be signed, with the ids of those that come right before it, in order. */
export interface Numbered {
  ordinal: bigint;
  attemptId: string;
  before: readonly string[];
  /** `before` begins with the first attempt of the history. */
  isWhole: boolean;
}

export type Placing =
  /** It may be signed, and these numbers are new. */
  | { is: 'placed'; added: readonly (readonly [ordinal: bigint, attemptId: string])[] }
  /** What comes before it is missing: from that number on; null: from the first of the history. */
  | { is: 'gap'; from: bigint | null }
  /** One of the numbers is another attempt's. */
  | { is: 'taken'; ordinal: bigint };

/**
 * Decides whether an attempt belongs to the one course of events that a wallet has signed for. Two copies of a database
 * that count on from the same number differ at that number; as no number is signed before all lower ones are known, the
 * one that comes second finds it taken, whatever it asks for first.
 */
export function placeAttempt({ last, known }: Numbering, asked: Numbered): Placing {
  const { ordinal, attemptId, before, isWhole } = asked;
  if (known.get(ordinal) === attemptId) return { is: 'placed', added: [] };
  const lowest = ordinal - BigInt(before.length);
  const numbers = [...before, attemptId].map((id, i) => [lowest + BigInt(i), id] as const);
  const taken = numbers.find(([number, id]) => known.has(number) && known.get(number) !== id);
  if (taken !== undefined) return { is: 'taken', ordinal: taken[0] };
  if (last === null && !isWhole) return { is: 'gap', from: null };
  if (last !== null && lowest > last) return { is: 'gap', from: last };
  const added = numbers.filter(([number]) => !known.has(number));
  // Below the first number of the history, where nothing may be added later.
  const early = added.find(([number]) => last !== null && number <= last);
  if (early !== undefined) return { is: 'taken', ordinal: early[0] };
  return { is: 'placed', added };
}
