import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { readVersions } from '../attempts/versions.ts';
import { type AttemptRow, HOT_KEY_REF } from '../queries.ts';

/**
 * Attempts of the hot wallet that may or may not be on the chain: undecided ones, and ones whose final block is gone.
 * Of the `versions` one at most is mined; `amounts` is what each of `itemIds` pays out of the wallet, in order; `counted` is the part that the books have as paid.
 */
export async function listUnsettled(db: Db, merchantId: string, network: Network) {
  const attempts = await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('key_ref', '=', HOT_KEY_REF)
    .where((e) =>
      e.or([
        e('status', 'in', ['signed', 'sent']),
        e.and([e('status', '=', 'succeeded'), e('gone_at', 'is not', null)]),
      ]),
    )
    .execute();
  const ids = attempts.flatMap((attempt) => attempt.item_ids);
  const { rows } = await sql<{ transfer_id: string; amount: bigint; is_counted: boolean }>`
    select transfer_id, ${AMOUNT_OUT} as amount, charge is null and status = 'succeeded' and lost_at is null as is_counted
    from transfer
    where merchant_id = ${merchantId} and transfer_id = any(${ids}::uuid[])`.execute(db);
  const versions = await readVersions(db, attempts);
  const known = new Map(rows.map((row) => [row.transfer_id, row]));
  return attempts.map((attempt) => {
    const items = attempt.item_ids.map((id) => known.get(id));
    const counted = items.reduce((sum, item) => sum + (item?.is_counted === true ? item.amount : 0n), 0n);
    const amounts = items.map((item) => item?.amount ?? 0n);
    const signed = versions.get(attempt.attempt_id) ?? [];
    return { currency: attempt.currency, versions: signed, itemIds: attempt.item_ids, amounts, counted };
  });
}

/** What a transfer takes out of our wallet; negative for a charge, which brings coins in. */
const AMOUNT_OUT = sql`case when charge is null then amount else -amount end`;

/**
 * Sum of the succeeded transfers out of the hot wallet less the charges into it, whether or not their owners have booked
 * them. Sweeps are not included: their coins stay ours.
 */
export async function sumPaidByTransfers(
  db: Db,
  merchantId: string,
  { network, currency }: { network: Network; currency: AttemptRow['currency'] },
): Promise<bigint> {
  const { rows } = await sql<{ total: string | null }>`
    select sum(${AMOUNT_OUT})::text as total from transfer
    where merchant_id = ${merchantId} and network = ${network} and currency = ${currency}
      and key_ref = ${HOT_KEY_REF} and status = 'succeeded' and (lost_at is null or charge is not null)`.execute(
    db,
  );
  return BigInt(rows[0]?.total ?? 0);
}
