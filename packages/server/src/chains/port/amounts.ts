/** The most units of a token that the database keeps as one amount. */
export const AMOUNT_MAX = 2n ** 63n - 1n;
