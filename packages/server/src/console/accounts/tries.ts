import { sql } from 'kysely';
import { type Db, transact } from '../../platform/db/index.ts';
import { admitTry, TRIES } from './decisions.ts';
import { digestOf } from './secrets.ts';

const FORGOTTEN_MS = 3_600_000;

/**
 * Counts a try in a transaction of its own before it is made, so that tries at once on all nodes count too.
 *
 * @param name the address or e-mail as it came; only its digest is kept
 * @returns false: refused
 */
export async function takeTry(
  db: Db,
  kind: keyof typeof TRIES,
  name: string,
  nowMs: number,
): Promise<boolean> {
  const subject = digestOf(`${kind} ${name}`);
  return await transact(db, async (tx) => {
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
  });
}

/** After success an account's tries begin anew. Tries that count no more are deleted with it. */
export async function forgetTries(db: Db, email: string, nowMs: number): Promise<void> {
  await db
    .deleteFrom('console_attempt')
    .where((is) =>
      is.or([
        is('subject', '=', digestOf(`account ${email}`)),
        is('last_at_ms', '<', BigInt(nowMs - FORGOTTEN_MS)),
      ]),
    )
    .execute();
}
