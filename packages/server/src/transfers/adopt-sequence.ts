import type { Network } from '@florin/contract/money';
import type { Merchant } from '../stores/index.ts';
import { KEY_REF } from './queries.ts';
import { raiseSequence } from './wallet-queries.ts';
import type { TransferDeps } from './work.ts';

/**
 * Takes over the chain's sequence for a merchant's wallet that was used elsewhere, or whose database is an old copy.
 * For the operator, after the books were compared with the chain: transfers that wait go on at once.
 *
 * @returns false when there is nothing to take over
 * @throws ChainUnavailable
 */
export async function adoptSequence(
  deps: TransferDeps,
  merchant: Merchant,
  network: Network,
): Promise<boolean> {
  const chain = deps.chains.of(merchant, network);
  const sender = await chain.sender(KEY_REF);
  const chainNext = await chain.nextSequence(sender);
  return (
    chainNext !== null && (await raiseSequence(deps.db, { network, sender, chainNext: BigInt(chainNext) }))
  );
}
