import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../platform/ids.ts';
import type { TransactionRow } from './queries.ts';
import './tables.ts';

/**
 * Writes what a person decides of a seized transfer; the caller holds the payment's lock.
 *
 * @returns how many have decided the same
 * @throws Fail `invalid_request` where that person decided before
 */
export async function castVote(
  tx: Tx,
  { merchant_id: merchantId, network, tx_id: txId, index }: TransactionRow,
  vote: { approverId: string; decision: 'release' | 'keep'; nowSeconds: number },
): Promise<number> {
  const { rows } = await sql`
    insert into seizure_vote (merchant_id, network, tx_id, index, approver_id, decision, created_at)
    values (${merchantId}, ${network}, ${txId}, ${index}, ${vote.approverId}, ${vote.decision}, ${vote.nowSeconds})
    on conflict (merchant_id, network, tx_id, index, approver_id) do nothing
    returning 1`.execute(tx);
  if (rows.length === 0) throw new Fail('invalid_request', 'You have decided on this transfer before.');
  const { votes } = await tx
    .selectFrom('seizure_vote')
    .select((e) => e.fn.countAll<bigint>().as('votes'))
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('tx_id', '=', txId)
    .where('index', '=', index)
    .where('decision', '=', vote.decision)
    .executeTakeFirstOrThrow();
  return Number(votes);
}

/** For the operator, who names a payment alone. @throws Fail `resource_not_found` */
export async function ownerOfPayment(
  db: Db,
  text: string,
): Promise<{ merchantId: string; paymentId: string }> {
  const paymentId = decodeId('payment', text);
  const row =
    paymentId &&
    (await db
      .selectFrom('payment')
      .select('merchant_id')
      .where('payment_id', '=', paymentId)
      .executeTakeFirst());
  if (!row) throw new Fail('resource_not_found', `There is no payment ${text}.`);
  return { merchantId: row.merchant_id, paymentId };
}
