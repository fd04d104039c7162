import type { Network } from '@florin/contract/money';
import type { Merchant } from '../../stores/index.ts';
import { HOT_KEY_REF } from '../queries.ts';
import type { TransferDeps } from '../send-context.ts';
import { raiseSequence, readWallet } from '../wallets/wallet-queries.ts';

/**
 * Raises a wallet's next sequence to the chain's, for a wallet that was used elsewhere or a database that is an old copy.
 * An operator calls it after comparing the books with the chain; waiting transfers continue at once.
 *
 * @returns false when the chain is not ahead
 * @throws ChainUnavailable
 */
export async function adoptSequence(
  deps: TransferDeps,
  merchant: Merchant,
  network: Network,
): Promise<boolean> {
  const chain = deps.chains.of(merchant, network);
  const { sender, chainNext } = await readWallet(chain, HOT_KEY_REF);
  return chainNext !== null && (await raiseSequence(deps.db, { network, sender, chainNext }));
}
