/** A deposit that is not fully swept. */
export interface Unswept {
  txId: string;
  index: number;
  unswept: bigint;
}

export interface Part {
  txId: string;
  index: number;
  amount: bigint;
}

/** Attributes coins at an address to its deposits, oldest first. The last one may be covered in part. */
export function allocate(deposits: readonly Unswept[], coins: bigint): Part[] {
  let left = coins;
  return deposits.flatMap(({ txId, index, unswept }) => {
    const amount = unswept < left ? unswept : left;
    if (amount <= 0n) return [];
    left -= amount;
    return [{ txId, index, amount }];
  });
}

export const sumOf = (parts: readonly Part[]): bigint => parts.reduce((sum, { amount }) => sum + amount, 0n);
