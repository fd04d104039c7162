import { ownerFault } from '../account-keys.ts';
import { SignerUnavailable, SigningBlocked, UnbuildableTransfer } from '../port/port-errors.ts';
import type { TransactionSigner } from './signing.ts';

/**
 * Payers give mandates for an account whose id follows from its owner. Asked to charge for another one, the signer would take it
 * for an attack; and whoever wrote another owner into this database would have mandates given to an account of theirs.
 *
 * @throws SigningBlocked where the policy names another owner than this database; SignerUnavailable
 */
export async function assertOwner(
  signer: Pick<TransactionSigner, 'readAccount'>,
  { account, owner, isOwnerCold = false }: { account: number; owner: string; isOwnerCold?: boolean },
): Promise<void> {
  const own = { account, coldOwner: isOwnerCold ? owner : null };
  const { coldOwner } = await signer.readAccount(account);
  if (coldOwner !== own.coldOwner) throw new SigningBlocked('erc20', 'policy', ownerFault(own, coldOwner));
}

/** Turns the refusal into one that the page shows, so that no payer signs a mandate that could not be charged. */
export function asUnbuildable(error: unknown): never {
  throw error instanceof SigningBlocked ? new UnbuildableTransfer(error.message) : error;
}

/** Passes a refusal on, and nothing else of a signer that does not answer. */
export function unlessAway(error: unknown): void {
  if (!(error instanceof SignerUnavailable)) throw error;
}
