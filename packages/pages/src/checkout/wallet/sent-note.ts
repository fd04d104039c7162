/** A payment that a wallet has sent, until the page itself has seen it: a page that is loaded again warns of a second one. */
export interface SentNote {
  text: string;
  atMs: number;
}

const KEPT_MS = 10 * 60_000;
const keyOf = (address: string) => `florin sent ${address}`;

/** Browsers may keep nothing; then nothing is known. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export const keepSent = (address: string, text: string): void => {
  const note: SentNote = { text, atMs: Date.now() };
  orNull(() => localStorage.setItem(keyOf(address), JSON.stringify(note)));
};

export const dropSent = (address: string): void => {
  orNull(() => localStorage.removeItem(keyOf(address)));
};

/** The note about the address, for 10 minutes. The amount does not matter: the payment sent may have changed what is due. */
export function readSent(address: string): SentNote | null {
  const note = orNull((): SentNote | null => JSON.parse(localStorage.getItem(keyOf(address)) ?? 'null'));
  return note !== null && Date.now() - note.atMs < KEPT_MS ? note : null;
}
