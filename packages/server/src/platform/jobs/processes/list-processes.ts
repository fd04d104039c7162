import { sql } from 'kysely';
import type { Db } from '../../db/db.ts';
import { type NamedProcess, readProcessName } from '../../db/process-name.ts';
import { LOCK_CLASS } from '../presence.ts';

export interface RunningProcess extends NamedProcess {
  /** That run jobs in it. */
  workers: number;
}

/** The processes of the service that are connected now, commands of the operator among them. */
export async function listProcesses(db: Db): Promise<RunningProcess[]> {
  const { rows } = await sql<{ name: string; workers: bigint }>`
    select a.application_name as name, count(distinct l.objid) as workers
    from pg_stat_activity a
    left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.classid = ${LOCK_CLASS}::oid and l.granted
    where a.datname = current_database()
    group by 1 order by 1`.execute(db);
  return rows.flatMap(({ name, workers }) => {
    const named = readProcessName(name);
    return named === undefined ? [] : [{ ...named, workers: Number(workers) }];
  });
}
