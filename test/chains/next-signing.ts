import type { SigningRequest } from '../../packages/server/src/chains/port/wallet-holder.ts';

let made = 0n;

const nameOf = (ordinal: bigint) => `00000000-0000-7000-8000-${String(ordinal).padStart(12, '0')}`;

/** For tests of a chain: every transaction is an attempt of its own in one history, from whichever wallet. */
export function nextSigning(history = 'the history of these tests'): SigningRequest {
  const ordinal = made++;
  const before = async (from: bigint | null) =>
    Array.from({ length: from === null ? 0 : Number(ordinal - from) }, (_, i) =>
      nameOf(ordinal - BigInt(i) - 1n),
    ).reverse();
  return { history, attemptId: nameOf(ordinal), ordinal, previous: null, before };
}
