import { sql } from 'kysely';
import type { Db } from '../packages/server/src/platform/db/index.ts';

/** A node of a plan of PostgreSQL, as far as tests read it. */
export interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  Filter?: string;
  Plans?: PlanNode[];
}

/** The nodes of a statement's plan, outermost first, after it ran. */
export async function explain(db: Db, statement: Parameters<typeof sql.raw> | object): Promise<PlanNode[]> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>`
    explain (analyze, format json) ${statement}`.execute(db);
  const flat = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
  return rows.flatMap((row) => flat(row['QUERY PLAN'][0].Plan));
}
