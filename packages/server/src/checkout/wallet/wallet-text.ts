import { isoOf } from '../../platform/db/index.ts';

/** What a payer's wallet signs, to prove that it is the payer's. */
export interface TextFacts {
  /** Address of the service, as payers see it. */
  publicUrl: string;
  /** The wallet, canonical. */
  account: string;
  wallets: 'Ethereum' | 'Solana' | 'Tron';
  /** Of an Ethereum or Tron network its number, 0 where it is simulated; of a Solana network its name. */
  chainId: string;
  nonce: string;
  /** Unix seconds. */
  issuedAt: number;
  expiresAt: number;
  /** Of the checkout session. */
  sessionId: string;
}

const STATEMENT =
  'This proves that the wallet is yours, so that a refund of this payment can go back to it. It moves no money and allows nothing.';

/**
 * The text in the form of EIP-4361, which wallets of Solana know with their network's name in it, line by line: wallets that know the form show it as a proof and warn where the page
 * that asks is not of that domain. The form is ASCII, so the statement is in English.
 */
export function walletText({
  publicUrl,
  account,
  wallets,
  chainId,
  nonce,
  sessionId,
  ...times
}: TextFacts): string {
  const { host, origin } = new URL(publicUrl);
  return [
    `${host} wants you to sign in with your ${wallets} account:`,
    account,
    '',
    STATEMENT,
    '',
    `URI: ${origin}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${isoOf(times.issuedAt * 1_000)}`,
    `Expiration Time: ${isoOf(times.expiresAt * 1_000)}`,
    `Request ID: ${sessionId}`,
  ].join('\n');
}
