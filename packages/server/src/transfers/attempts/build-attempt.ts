import { type Authority, depositIndexOf, type SignedTx } from '../../chains/port/index.ts';
import { readSignerJournal } from '../approvals/signer-journal.ts';
import { chargeOf } from '../charges/charges.ts';
import { type AttemptRow, TANK_KEY_REF, type TransferRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { keyOfSender } from '../wallets/present-wallet.ts';
import { attemptsBefore } from '../wallets/wallet-queries.ts';
import { movementOf, paysNobody } from './movements.ts';

/**
 * Builds and signs an attempt.
 *
 * @param transfers those of its group
 * @throws UnbuildableTransfer, SigningRefused, SigningBlocked, WalletRotated, ChainUnavailable
 */
export async function buildAttempt(
  { deps, merchant, chain, isCharge }: SendContext,
  { attempt, history, replaces }: { attempt: AttemptRow; history: string; replaces?: SignedTx | undefined },
  transfers: readonly TransferRow[],
): Promise<SignedTx> {
  const { attempt_id: attemptId, group_id: groupId, sequence, ordinal } = attempt;
  const keyRef = await keyOfSender(chain, attempt);
  if (ordinal === null) throw new Error('an attempt that is signed has an ordinal');
  const before = (from: bigint | null) => attemptsBefore(deps.db, { ...attempt, ordinal }, from);
  const journal = await readSignerJournal(deps.db, merchant);
  const signing = { history, attemptId, ordinal, previous: attempt.previous_id, before, journal };
  const version = replaces === undefined ? {} : { replaces };
  const by = { keyRef, signing, ...version };
  if (paysNobody(attempt))
    return await chain.buildMovement({ ...by, movement: movementOf(attempt), sequence: String(sequence) });
  const numbered = sequence === null ? by : { ...by, sequence: String(sequence) };
  const members = membersOf(attempt, transfers);
  if (isCharge) return await chain.buildCharge({ ...numbered, ...chargeOfMembers(members) });
  if (keyRef === TANK_KEY_REF)
    return await chain.buildSweep({ ...by, items: members.map(sweepItemOf), sequence: String(sequence) });
  const items = members.map(itemOf);
  const authority = await authorityOf({ deps, merchant }, members);
  const allowed = authority === undefined ? {} : { authority };
  return await chain.buildTransfer({ ...numbered, ...allowed, asset: attempt.currency, groupId, items });
}

/** A signer asks for it; the keys of a sandbox merchant lie with its simulated chains, which ask for nothing. */
async function authorityOf(
  { deps, merchant }: Pick<SendContext, 'deps' | 'merchant'>,
  [first]: readonly TransferRow[],
): Promise<Authority | undefined> {
  if (merchant.mode === 'sandbox' || first === undefined) return undefined;
  const { owner_type: ownerType, group_id: groupId } = first;
  return await deps.findAuthority(deps.db, merchant.merchantId, { ownerType, groupId });
}

function membersOf(attempt: AttemptRow, transfers: readonly TransferRow[]): TransferRow[] {
  const byId = new Map(transfers.map((transfer) => [transfer.transfer_id, transfer]));
  return attempt.item_ids.map((id) => {
    const transfer = byId.get(id);
    if (transfer === undefined) throw new Error('an attempt has a transfer that is not in its group');
    return transfer;
  });
}

const itemOf = ({ transfer_id: itemId, place, address: to, amount, memo }: TransferRow) => ({
  itemId,
  place,
  to,
  amount,
  ...(memo === null ? {} : { memo }),
});

function sweepItemOf({ transfer_id: itemId, key_ref: keyRef, currency: asset, amount }: TransferRow) {
  const index = depositIndexOf(keyRef);
  if (index === null) throw new Error('a sweep takes from deposit addresses alone');
  return { itemId, index, asset, amount };
}

function chargeOfMembers([transfer, ...others]: readonly TransferRow[]) {
  if (transfer?.charge == null || others.length > 0)
    throw new Error('a charge must be alone in its transaction');
  return { ...chargeOf(transfer.charge), chargeId: transfer.transfer_id, amount: transfer.amount };
}
