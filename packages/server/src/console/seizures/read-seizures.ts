import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { seizures as decisions, type SeizureDecision } from '../../payments/deposits/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { votes } from '../../stores/approvers/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';

/** A transfer of a payment. */
export interface SeizureName {
  merchantId: string;
  paymentId: string;
  /** `<tx_id>:<index>` */
  txId: string;
}

interface Row {
  merchant_id: string;
  merchant: string;
  mode: 'sandbox' | 'live';
  store_id: string;
  payment_id: string;
  network: Network;
  tx_id: string;
  index: number;
  currency: Asset;
  amount: bigint;
  sender: string;
  final_at: bigint;
}

/** What came from a listed address, which two operators, or two approvers of the merchant, give back or keep. */
export interface Seizure extends Row {
  /** What operators have decided, who are operators still. */
  votes: { userId: string; email: string; decision: SeizureDecision; at: number }[];
}

const isUndecided = sql<boolean>`t.kind = 'seized' and t.status = 'final' and t.decision is null`;

/** After which transfer a page begins. */
export interface SeizureCursor {
  finalAt: bigint;
  merchantId: string;
  network: string;
  txId: string;
  index: number;
}

const PLACE = sql`t.final_at, t.merchant_id, t.network, t.tx_id, t.index`;

/** The undecided seized transfers of all live merchants, or of all sandboxes, the oldest first. It only reads the tables of other modules. */
export async function readSeizures(
  { db, clock }: Pick<ConsoleDeps, 'db' | 'clock'>,
  { mode, limit, after }: { mode: Row['mode']; limit: number; after: SeizureCursor | undefined },
): Promise<{ seizures: Seizure[]; operators: number }> {
  const later = after
    ? sql`and (${PLACE}) > (${after.finalAt}, ${after.merchantId}::uuid, ${after.network}, ${after.txId}, ${after.index})`
    : sql``;
  const { rows } = await sql<Row>`
    select t.merchant_id, m.name as merchant, m.mode, p.store_id, t.payment_id, t.network, t.tx_id, t.index, t.currency,
      t.amount, t.sender, t.final_at
    from payment_transaction t
    join payment p on p.merchant_id = t.merchant_id and p.payment_id = t.payment_id
    join merchant m on m.merchant_id = t.merchant_id
    where ${isUndecided} and m.mode = ${mode} ${later}
    order by ${PLACE} limit ${limit}`.execute(db);
  const people = (await users.listUsers({ db, clock }, NIL_ID)).filter(
    ({ role, isInvited }) => role === 'operator' && !isInvited,
  );
  const operators = new Map(people.map(({ userId, email }) => [userId, email]));
  const subjects = rows.map((row) => ({
    merchantId: row.merchant_id,
    subject: decisions.seizureSubject(row),
  }));
  const cast = await votes.listVotes(db, { action: decisions.SEIZURE_ACTIONS.operators, subjects });
  const seizures = rows.map((row, i) => ({
    ...row,
    votes: cast.flatMap(({ merchantId, subject, voterId: userId, decision, at }) => {
      const email = operators.get(userId);
      if (email === undefined || merchantId !== row.merchant_id || subject !== subjects[i]?.subject)
        return [];
      return {
        userId,
        email,
        decision: decision === 'keep' ? ('keep' as const) : ('release' as const),
        at: Number(at),
      };
    }),
  }));
  return { seizures, operators: operators.size };
}

/** The undecided seized transfer of this name. */
export async function findSeizure(
  db: Db,
  { merchantId, paymentId, txId }: SeizureName,
): Promise<Pick<Row, 'network' | 'tx_id' | 'index'> | undefined> {
  const { rows } = await sql<Pick<Row, 'network' | 'tx_id' | 'index'>>`
    select t.network, t.tx_id, t.index from payment_transaction t
    where t.merchant_id = ${merchantId} and t.payment_id = ${paymentId} and t.tx_id || ':' || t.index = ${txId}
      and ${isUndecided}`.execute(db);
  return rows[0];
}
