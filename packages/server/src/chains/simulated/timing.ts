/** How a simulated chain behaves: how fast it is, and who makes its addresses. */
export interface SimulatedTiming {
  /** Seconds of the merchant's clock from block to block; default 1. */
  blockSeconds?: number;
  /** After which a block is final; default 3. */
  confirmations?: number;
  /** From which small deposits may be credited (none: finality is a matter of seconds). */
  earlyConfirmations?: number;
  /** The holder of the keys names deposit addresses ahead, as where no public key derives them (false). */
  namesAddresses?: boolean;
  /**
   * What the gas tank holds, where it pays the fees of all transactions and opens accounts for recipients; they are not taken from it.
   * Absent: fees cost nothing. On networks without sequences alone.
   */
  tankHolds?: () => bigint;
  /** There: whether the token's issuer has frozen the hot wallets (false). */
  areFrozen?: () => boolean;
}
