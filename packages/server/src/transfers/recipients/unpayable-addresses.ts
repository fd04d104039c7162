import type { Network } from '@florin/contract/money';
import type { ChainOwner } from '../../chains/index.ts';
import type { Db } from '../../platform/db/index.ts';

/**
 * Finds which of the given canonical addresses pay nobody: the merchant's hot wallet, its deposit addresses, wallets that the
 * installation shares, our contracts and those of the tokens. Coins sent there stay with us, or are lost, while the books
 * have them as paid. Another merchant's addresses are not included: paying that merchant's checkout is a payment like
 * any other.
 *
 * Modules above this one know deposit addresses, so `app.ts` injects the function.
 */
export type FindUnpayable = (
  db: Db,
  merchant: ChainOwner,
  request: { network: Network; addresses: readonly string[] },
) => Promise<ReadonlySet<string>>;

/** The refusal's message, for people. */
export const UNPAYABLE =
  'This is a wallet or contract of your own, of this service or of the token: the money would reach nobody.';
