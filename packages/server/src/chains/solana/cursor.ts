/** A place on the chain: after a whole slot, or within the pages of one scan. */
export interface Position {
  slot: bigint;
  /** The last transfer of the page before, in that slot; undefined: after the whole slot. */
  page?: { txId: string; index: number; base: bigint };
}

const FORM =
  /^(-1|0|[1-9][0-9]{0,17})(?::([1-9A-HJ-NP-Za-km-z]{64,88}):(0|[1-9][0-9]{0,8}):(-1|0|[1-9][0-9]{0,17}))?$/;

/** `22` is after the whole slot 22, `22:5Ab…:1:7` after transfer 1 of a transaction in it, of a scan that began after slot 7. */
export function writeCursor({ slot, page }: Position): string {
  return page === undefined ? String(slot) : `${slot}:${page.txId}:${page.index}:${page.base}`;
}

/** @throws RangeError */
export function readCursor(text: string): Position {
  const [, slot, txId, index, base] = FORM.exec(text) ?? [];
  if (slot === undefined) throw new RangeError('not a cursor of this network');
  if (txId === undefined || base === undefined) return { slot: BigInt(slot) };
  return { slot: BigInt(slot), page: { txId, index: Number(index), base: BigInt(base) } };
}

/** The slot up to which its caller has stored everything that came before this scan. */
export const baseOf = ({ slot, page }: Position): bigint => page?.base ?? slot;

interface Placed {
  height: bigint;
  txId: string;
  index: number;
}

/** In the order of slots; nothing tells the order of transactions in a slot, so that their ids decide. */
export function compareTransfers(a: Placed, b: Placed): number {
  if (a.height !== b.height) return a.height < b.height ? -1 : 1;
  if (a.txId !== b.txId) return a.txId < b.txId ? -1 : 1;
  return a.index - b.index;
}

export function isAfter(one: Placed, { slot, page }: Position): boolean {
  if (page === undefined) return one.height > slot;
  return compareTransfers(one, { height: slot, ...page }) > 0;
}
