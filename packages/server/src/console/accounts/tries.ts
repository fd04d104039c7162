import { sql } from 'kysely';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { networkOf } from '../../platform/network-of.ts';
import { admitTry, FORGOTTEN_MS, TRIES } from './decisions.ts';
import { digestOf } from './secrets.ts';

type TryKind = keyof typeof TRIES;

const subjectOf = (kind: TryKind, name: string) => digestOf(`${kind} ${name}`);

/**
 * Counts a try in a transaction of its own before it is made, so that tries at once on all nodes count too.
 *
 * @param name the e-mail, the user's id or the address; only its digest is kept
 * @returns false: refused
 */
export const takeTry = (db: Db, kind: TryKind, name: string, nowMs: number): Promise<boolean> =>
  transact(db, (tx) => countTry(tx, kind, name, nowMs));

/** As `takeTry`, where what is tried is part of a change: a change that is refused counts as no try. */
export async function countTry(tx: Tx, kind: TryKind, name: string, nowMs: number): Promise<boolean> {
  const subject = subjectOf(kind, name);
  // Locks the row, and makes it where there is none.
  const { times_ms: times } = await tx
    .insertInto('console_attempt')
    .values({ subject, times_ms: [], last_at_ms: nowMs })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet({ last_at_ms: sql`console_attempt.last_at_ms` }),
    )
    .returning('times_ms')
    .executeTakeFirstOrThrow();
  const admitted = admitTry(times.map(Number), nowMs, TRIES[kind]);
  if (admitted === undefined) return false;
  await tx
    .updateTable('console_attempt')
    .set({ times_ms: admitted, last_at_ms: nowMs })
    .where('subject', '=', subject)
    .execute();
  return true;
}

/** Counts a try from an address; all addresses of one IPv6 subscriber count together. */
export const takeTryFrom = (db: Db, remoteAddress: string, nowMs: number): Promise<boolean> =>
  takeTry(db, 'address', networkOf(remoteAddress), nowMs);

/** After success the tries of these kinds begin anew. */
export async function forgetTries(db: Db, kinds: readonly TryKind[], name: string): Promise<void> {
  const subjects = kinds.map((kind) => subjectOf(kind, name));
  await db.deleteFrom('console_attempt').where('subject', 'in', subjects).execute();
}

/** Deletes tries that count nowhere any more. */
export async function sweepTries(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom('console_attempt')
    .where('last_at_ms', '<', BigInt(nowMs - FORGOTTEN_MS))
    .execute();
}
