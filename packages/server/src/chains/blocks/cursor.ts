/** A place on the chain: after a whole block, or after one log of it. */
export interface Position {
  height: bigint;
  /** Undefined: after the whole block. */
  logIndex?: number;
}

const FORM = /^(-1|0|[1-9][0-9]{0,17})(?:\.(0|[1-9][0-9]{0,8}))?$/;

/** `22` is after the whole block 22, `22.7` after its log 7. */
export function writeCursor({ height, logIndex }: Position): string {
  return logIndex === undefined ? String(height) : `${height}.${logIndex}`;
}

/** @throws RangeError */
export function readCursor(text: string): Position {
  const [, height, logIndex] = FORM.exec(text) ?? [];
  if (height === undefined) throw new RangeError('not a cursor of this network');
  return { height: BigInt(height), ...(logIndex !== undefined && { logIndex: Number(logIndex) }) };
}

/** The first block that holds something after the position. */
export function firstBlockAfter({ height, logIndex }: Position): bigint {
  return logIndex === undefined ? height + 1n : height;
}

export function isAfter(one: { height: bigint; logIndex: number }, position: Position): boolean {
  if (one.height !== position.height) return one.height > position.height;
  return position.logIndex !== undefined && one.logIndex > position.logIndex;
}
