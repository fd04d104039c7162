import type { BenchServer } from '../database.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { measureDeposits } from './deposits.ts';
import { measureIdle } from './idle.ts';
import { measureSessions } from './sessions.ts';

const PARTS: readonly { rows: readonly RowId[]; run: typeof measureSessions }[] = [
  { rows: ['13a'], run: measureSessions },
  { rows: ['13b', '13c'], run: measureDeposits },
  { rows: ['13d'], run: measureIdle },
];

/** Row 13: sessions, the deposits that pay them, and what waiting for deposits costs. */
export async function runCheckout(server: BenchServer, options: RunOptions): Promise<Findings> {
  const findings: Findings = { results: [], remarks: [] };
  for (const { rows, run } of PARTS) {
    if (!rows.some((row) => options.wanted.has(row))) continue;
    const { results, remarks } = await run(server, options);
    findings.results.push(...results.filter(({ row }) => options.wanted.has(row)));
    findings.remarks.push(...remarks);
  }
  return findings;
}
