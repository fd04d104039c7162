import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { KeyRef } from '../chains/port/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { bookMissingParts, sweptAddress } from './sweep-queries.ts';

// A sweep that moved nothing has released its parts. A reorganisation may still get its transaction mined, when its deposits
// are in no sweep, or in another one that now finds no coins, or are not on the chain yet. So whenever deposits of an
// address are released, sweeps that moved coins from it get their parts first.

interface Moved {
  sweepId: string;
  amount: bigint;
  address: string;
  currency: Asset;
}

/** Books the missing parts of sweeps from these deposit keys, as far as there are deposits in no sweep. */
export async function bookMovedSweeps(
  tx: Tx,
  target: { merchantId: string; network: Network },
  keyRefs: readonly KeyRef[],
): Promise<void> {
  for (const moved of await listMoved(tx, target, keyRefs)) await bookMissingParts(tx, target, moved);
}

/** Sweeps that moved more coins than their parts account for. */
async function listMoved(
  tx: Tx,
  { merchantId, network }: { merchantId: string; network: Network },
  keyRefs: readonly KeyRef[],
): Promise<Moved[]> {
  const { rows } = await sql<Moved>`
    select t.owner_id as "sweepId", t.amount, ${sweptAddress('t', 'a')} as address, t.currency
    from transfer t
    join transfer_attempt a on a.merchant_id = t.merchant_id and a.network = t.network and a.tx_id = t.tx_id
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.key_ref <> 'hot'
      and t.key_ref = any(${keyRefs}::text[]) and t.owner_type = 'sweep' and t.status = 'succeeded' and t.lost_at is null
      and t.amount > (select coalesce(sum(p.amount), 0) from sweep_part p
        where p.merchant_id = t.merchant_id and p.sweep_id = t.owner_id)
    order by t.transfer_id`.execute(tx);
  return rows;
}
