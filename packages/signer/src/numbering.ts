/** The known attempts of a wallet in one history, numbered without a gap. */
export interface Numbering {
  /** The highest ordinal; null: none. */
  last: bigint | null;
  /** Attempts by ordinal; includes at least those of the requests. */
  known: ReadonlyMap<bigint, string>;
}

/** An attempt to sign, with the ids of the attempts right before it, in order. */
export interface NumberedAttempt {
  ordinal: bigint;
  attemptId: string;
  before: readonly string[];
  /** `before` begins with the first attempt of the history. */
  isWhole: boolean;
}

export type Placement =
  /** It may be signed; `added` are the new ordinals. */
  | { is: 'placed'; added: readonly (readonly [ordinal: bigint, attemptId: string])[] }
  /** Attempts before it are unknown, from that ordinal on; null: from the first of the history. */
  | { is: 'gap'; from: bigint | null }
  /** One of the ordinals belongs to another attempt. */
  | { is: 'taken'; ordinal: bigint };

/**
 * Decides whether an attempt belongs to the one history that a wallet has signed for. Two copies of a database that
 * continue from the same ordinal differ at that ordinal. No ordinal is signed before all lower ones are known, so the copy
 * that comes second finds it taken, whichever attempt it requests first.
 */
export function placeAttempt({ last, known }: Numbering, attempt: NumberedAttempt): Placement {
  const { ordinal, attemptId, before, isWhole } = attempt;
  if (known.get(ordinal) === attemptId) return { is: 'placed', added: [] };
  const lowest = ordinal - BigInt(before.length);
  const numbers = [...before, attemptId].map((id, i) => [lowest + BigInt(i), id] as const);
  const taken = numbers.find(([number, id]) => known.has(number) && known.get(number) !== id);
  if (taken !== undefined) return { is: 'taken', ordinal: taken[0] };
  if (last === null && !isWhole) return { is: 'gap', from: null };
  if (last !== null && lowest > last) return { is: 'gap', from: last };
  const added = numbers.filter(([number]) => !known.has(number));
  // Below the first ordinal of the history, where nothing may be added later.
  const early = added.find(([number]) => last !== null && number <= last);
  if (early !== undefined) return { is: 'taken', ordinal: early[0] };
  return { is: 'placed', added };
}
