// On Solana each address is queried separately. Addresses of open payments, and of transfers that are not final yet, are queried by
// every scan; the others in rotation: address n when (n mod period) falls between the last recorded scan and now. No position is stored, and
// a late scan catches up.

/** How long a turn is, by how many addresses there are: so long may money at an old address wait for its first look. */
const TURNS: readonly { addresses: bigint; seconds: number }[] = [
  { addresses: 1_000n, seconds: 60 },
  { addresses: 10_000n, seconds: 600 },
];
const LONGEST_SECONDS = 3_600;

/** The addresses whose number has its turn: (number - first) modulo `seconds` is below `count`. */
export interface Turn {
  seconds: number;
  first: number;
  count: number;
}

/** @param read Unix seconds of the last look that gave turns @param addresses how many addresses were given out */
export function turnOf({ read, now, addresses }: { read: number; now: number; addresses: bigint }): Turn {
  const seconds = TURNS.find((turn) => addresses <= turn.addresses)?.seconds ?? LONGEST_SECONDS;
  const first = (read + 1) % seconds;
  // A clock that was set back is at worst a turn for all.
  const passed = now < read ? seconds : now - read;
  return { seconds, first, count: Math.min(passed, seconds) };
}
