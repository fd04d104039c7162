import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
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

/**
 * Takes the wallet's next sequences, one for each attempt; the row lock orders everybody who sends from it. The chain's
 * own count begins a wallet that we have not used yet. Read it before: whatever is mined by then was taken before.
 *
 * @throws WalletBehind when the chain has seen sequences that were never taken here
 */
export async function takeSequences(
  tx: Tx,
  wallet: { network: Network; sender: string; chainNext: bigint },
  attemptIds: readonly string[],
): Promise<bigint[]> {
  const { network, sender, chainNext } = wallet;
  const count = BigInt(attemptIds.length);
  const { rows } = await sql<{ first: bigint }>`
    insert into wallet as w (network, sender, next_sequence) values (${network}, ${sender}, ${chainNext + count})
    on conflict (sender, network) do update set next_sequence = w.next_sequence + ${count}
    returning next_sequence - ${count}::bigint as first`.execute(tx);
  const first = rows[0]?.first ?? chainNext;
  if (first < chainNext) throw new WalletBehind({ network, sender, ours: first, chains: chainNext });
  const sequences = attemptIds.map((_, i) => first + BigInt(i));
  await sql`
    insert into wallet_sequence (network, sender, sequence, attempt_id)
    select ${network}, ${sender}, u.* from unnest(${sequences}::bigint[], ${attemptIds}::uuid[]) as u`.execute(
    tx,
  );
  return sequences;
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
