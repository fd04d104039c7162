import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { abandonAttempt, lockWalletOf } from '../attempts/abandon-attempt.ts';
import type { AttemptRow } from '../queries.ts';
import { SEND_JOB } from '../request-transfers.ts';
import { type ActivationRow, endActivation, lockOpenActivation } from './activations.ts';

interface Now {
  seconds: number;
  realMs: number;
}

/**
 * Ends the activation of a mandate that is revoked. What has no bytes yet is given up; what has bytes may be on the chain,
 * and is watched to its end.
 */
export async function dropActivation(
  tx: Tx,
  merchantId: string,
  activationId: string,
  now: Now,
): Promise<void> {
  const open = await lockOpenActivation(tx, merchantId, activationId);
  if (open === undefined) return;
  await giveUpReserved(tx, open, now);
  await endActivation(tx, open, 'revoked', now.seconds);
}

/**
 * As `dropActivation`, unless a transaction that brings the mandate has bytes.
 *
 * @returns whether it is dropped
 */
export async function dropUnsentActivation(
  tx: Tx,
  merchantId: string,
  activationId: string,
  now: Now,
): Promise<boolean> {
  const open = await lockOpenActivation(tx, merchantId, activationId);
  if (open === undefined) return false;
  await giveUpReserved(tx, open, now);
  const { rows } = await sql`
    select from transfer_attempt
    where ${isBringing(open)} and (status in ('signed', 'sent', 'succeeded')) limit 1`.execute(tx);
  if (rows.length > 0) return false;
  await endActivation(tx, open, 'revoked', now.seconds);
  return true;
}

const isBringing = ({ merchant_id, activation_id }: ActivationRow) =>
  sql`merchant_id = ${merchant_id} and group_id = ${activation_id} and movement ->> 'kind' = 'activate'`;

/**
 * Gives up what was reserved to bring the mandate. A worker that signs it meanwhile stores nothing, as the attempt is over
 * by then. The account and the ether, which others of the merchant need too, go on.
 */
async function giveUpReserved(tx: Tx, open: ActivationRow, { seconds, realMs }: Now): Promise<void> {
  const reserved = async (lock = sql``) => {
    const { rows } = await sql<AttemptRow>`
      select * from transfer_attempt where ${isBringing(open)} and status = 'reserved' ${lock}`.execute(tx);
    return rows;
  };
  const [first] = await reserved();
  if (first === undefined) return;
  await lockWalletOf(tx, first);
  for (const attempt of await reserved(sql`for update`)) {
    const detail = 'the mandate is not needed any more';
    await abandonAttempt(tx, attempt, { detail, nowSeconds: seconds });
  }
  const { merchant_id: merchantId, activation_id: groupId } = open;
  const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs: realMs, payload: { groupId } };
  await enqueue(tx, [{ ...job, followsClock: true }]);
}
