import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
import { kept, unawaited } from '../platform/kept-plans.ts';
import './tables.ts';

/** The chain has seen sequences of a wallet that this database never gave out. */
export class WalletBehind extends Error {
  readonly network: Network;
  readonly sender: string;

  constructor(wallet: { network: Network; sender: string; ours: bigint; chains: bigint }) {
    const { network, sender, ours, chains } = wallet;
    super(`${network}: ${sender} is at sequence ${ours} here and at ${chains} on the chain`);
    this.network = network;
    this.sender = sender;
  }
}

/** A wallet as the chain showed it before the transaction that locks its row. */
export interface Wallet {
  network: Network;
  sender: string;
  /** Null where the network has no sequences. */
  chainNext: bigint | null;
}

/**
 * Locks the wallet's row, which orders everybody who sends from it. The chain's own count begins a wallet that we have
 * not used yet. Read it before: whatever is mined by then was taken before.
 *
 * @returns its next sequence
 * @throws WalletBehind when the chain has seen sequences that were never taken here
 */
export async function lockWallet(tx: Tx, { network, sender, chainNext }: Wallet): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`${kept}
    insert into wallet as w (network, sender, next_sequence) values (${network}, ${sender}, ${chainNext ?? 0n})
    on conflict (sender, network) do update set next_sequence = w.next_sequence
    returning next_sequence as next`.execute(tx);
  const next = rows[0]?.next ?? 0n;
  if (chainNext !== null && next < chainNext)
    throw new WalletBehind({ network, sender, ours: next, chains: chainNext });
  return next;
}

/** Takes a locked wallet's sequences from `first` on, one for each attempt. */
export async function takeSequences(
  tx: Tx,
  { network, sender, first }: { network: Network; sender: string; first: bigint },
  attemptIds: readonly string[],
): Promise<bigint[]> {
  if (attemptIds.length === 0) return [];
  await sql`${unawaited}
    update wallet set next_sequence = ${first + BigInt(attemptIds.length)}
    where sender = ${sender} and network = ${network}`.execute(tx);
  const sequences = attemptIds.map((_, i) => first + BigInt(i));
  await sql`${unawaited}
    insert into wallet_sequence (network, sender, sequence, attempt_id)
    select ${network}, ${sender}, u.* from unnest(${sequences}::bigint[], ${attemptIds}::uuid[]) as u`.execute(
    tx,
  );
  return sequences;
}

/**
 * What attempts of a locked wallet take out of it that its balance at a final block does not show: those that are not
 * decided, and those that a later block decided. A wallet is one merchant's.
 */
export async function sumOutgoing(
  tx: Tx,
  merchantId: string,
  of: { network: Network; sender: string; currency: Asset; height: bigint },
): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    with open as (
      select item_ids, 'sending' as status from transfer_attempt
      where merchant_id = ${merchantId} and network = ${of.network} and sender = ${of.sender}
        and currency = ${of.currency} and status in ('reserved', 'signed', 'sent')
      union all
      select item_ids, 'succeeded' from transfer_attempt
      where merchant_id = ${merchantId} and network = ${of.network} and sender = ${of.sender}
        and currency = ${of.currency} and height > ${of.height}
    )
    select coalesce(sum(t.amount), 0)::text as total
    from open o cross join unnest(o.item_ids) as item (transfer_id)
    join transfer t on t.merchant_id = ${merchantId} and t.transfer_id = item.transfer_id and t.status = o.status
      and t.charge is null`.execute(tx);
  return BigInt(rows[0]?.total ?? 0);
}

/** Lets a wallet go on from the chain's count; never takes it back. @returns false: nothing to make up */
export async function raiseSequence(
  db: Db,
  wallet: { network: Network; sender: string; chainNext: bigint },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('wallet')
    .set({ next_sequence: wallet.chainNext })
    .where('sender', '=', wallet.sender)
    .where('network', '=', wallet.network)
    .where('next_sequence', '<', wallet.chainNext)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
