import type { SigningRequest } from './wallet-holder.ts';

let made = 0n;

const nameOf = (ordinal: bigint) => `attempt ${ordinal}`;

/** For tests of a chain: each transaction is an attempt of its own of one history, and a wallet may begin with any. */
export function nextSigning(history = 'the history of these tests'): SigningRequest {
  const ordinal = made++;
  const before = async (from: bigint | null) =>
    Array.from({ length: from === null ? 0 : Number(ordinal - from) }, (_, i) =>
      nameOf(ordinal - BigInt(i) - 1n),
    ).reverse();
  return { history, attemptId: nameOf(ordinal), ordinal, previous: null, before };
}
