/** Settings write ether with six decimals, as they write tokens: wei of the smallest unit that they can name. */
export const WEI_PER_UNIT = 10n ** 12n;
