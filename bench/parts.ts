import { findAnvil, NO_ANVIL } from '../scripts/anvil.ts';
import type { BenchServer } from './database.ts';
import type { Findings, RowId, RunOptions } from './rows.ts';

/** Rows of an experiment that are measured together. */
export interface Part {
  rows: readonly RowId[];
  /** Contracts of Tron run on anvil, too. */
  needsAnvil: boolean;
  measure: (server: BenchServer, options: RunOptions) => Promise<Findings>;
}

/** Measures the parts of which a row is wanted. Without anvil, rows that need it are missing. */
export async function runParts(
  parts: readonly Part[],
  server: BenchServer,
  options: RunOptions,
): Promise<Findings> {
  const findings: Findings = { results: [], remarks: [] };
  for (const { rows, needsAnvil, measure } of parts) {
    const wanted = rows.filter((row) => options.wanted.has(row));
    if (wanted.length === 0) continue;
    if (needsAnvil && findAnvil() === undefined) {
      findings.results.push(...wanted.map((row) => ({ row, missing: NO_ANVIL })));
      continue;
    }
    const { results, remarks } = await measure(server, options);
    findings.results.push(...results.filter(({ row }) => options.wanted.has(row)));
    findings.remarks.push(...remarks);
  }
  return findings;
}
