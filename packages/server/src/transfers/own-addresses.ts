import type { Network } from '@florin/contract/money';
import type { ChainOwner } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';

/**
 * Which of the addresses (canonical forms) are the merchant's own: its hot wallet, every deposit address that was given
 * out, and wallets that the installation shares. Coins sent there do not leave, while the books call them paid. Another
 * merchant's addresses are not among them: whoever pays that one's checkout is right.
 *
 * Deposit addresses are known above this module, so `app.ts` hands this in.
 */
export type FindOwnAddresses = (
  db: Db,
  merchant: ChainOwner,
  request: { network: Network; addresses: readonly string[] },
) => Promise<ReadonlySet<string>>;

/** Why nothing is sent there, for people. */
export const OWN_ADDRESS = 'This is a wallet of your own or of this service: the money would not leave it.';
