// Addresses from which nobody can move coins. The server refuses the same ones (`chains/addresses` there); a test compares both.

const ACCOUNT_DIGITS = 40;
/** 0x00…00 to 0x00…ff: precompiled contracts, with room for those to come. */
const LOWEST_OPEN_ACCOUNT = '100'.padStart(ACCOUNT_DIGITS, '0');
/** Where people burn tokens, and the placeholder that libraries use for the native coin. */
const BURN_ACCOUNTS: ReadonlySet<string> = new Set([
  'dead'.padStart(ACCOUNT_DIGITS, '0'),
  'e'.repeat(ACCOUNT_DIGITS),
]);
/** USDT and USDC of Ethereum. */
const TOKENS: ReadonlySet<string> = new Set([
  'dac17f958d2ee523a2206206994597c13d831ec7',
  'a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
]);

/** Whether nobody has the key of an account of Ethereum's machine, on Ethereum or Tron. @param account `0x…` in any case */
export function isNobodysAccount(account: string): boolean {
  const digits = account.slice(2).toLowerCase();
  return digits < LOWEST_OPEN_ACCOUNT || BURN_ACCOUNTS.has(digits);
}

/** Whether coins would be lost at an address of Ethereum. */
export const isLostOnEthereum = (address: string): boolean =>
  isNobodysAccount(address) || TOKENS.has(address.slice(2).toLowerCase());
