import { findAnvil, NO_ANVIL } from '../../scripts/anvil.ts';
import type { BenchServer } from '../database.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { measureCharges } from './charges.ts';
import { measureDeposits } from './deposits.ts';
import { measureDueCharges } from './due-charges.ts';
import { measureGas } from './gas.ts';
import { measureIdle } from './idle.ts';
import { measurePayouts } from './payouts.ts';
import { measureSigner } from './signer.ts';

type Measure = (server: BenchServer, options: RunOptions) => Promise<Findings>;

const PARTS: readonly (readonly [rows: readonly RowId[], measure: Measure])[] = [
  [['18a', '18b', '18c'], measureGas],
  [['18d'], measurePayouts],
  [['18e', '18f'], (_, options) => measureIdle(options)],
  [['18g'], measureDeposits],
  [['18h'], (_, options) => measureSigner(options)],
  [['20a', '20b', '20c'], measureCharges],
  [['20d'], measureDueCharges],
];

/** Rows 18 and 20: real money on a local Ethereum. */
export async function runEthereum(server: BenchServer, options: RunOptions): Promise<Findings> {
  const findings: Findings = { results: [], remarks: [] };
  for (const [rows, measure] of PARTS) {
    const wanted = rows.filter((row) => options.wanted.has(row));
    if (wanted.length === 0) continue;
    if (findAnvil() === undefined) {
      findings.results.push(...wanted.map((row) => ({ row, missing: NO_ANVIL })));
      continue;
    }
    const { results, remarks } = await measure(server, options);
    findings.results.push(...results.filter(({ row }) => options.wanted.has(row)));
    findings.remarks.push(...remarks);
  }
  return findings;
}
