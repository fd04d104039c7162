import type { Network } from '@florin/contract/money';

/** Settings write ether with six decimals, as they write tokens: wei of the smallest unit that they can name. */
export const WEI_PER_UNIT = 10n ** 12n;

/** The coin in which each network takes its fees: what people call it, and its smallest units. */
export const NATIVE_COINS: Readonly<Record<Network, { name: string; units: bigint }>> = {
  erc20: { name: 'ether', units: 10n ** 18n },
  trc20: { name: 'TRX', units: 10n ** 6n },
  spl: { name: 'SOL', units: 10n ** 9n },
};
