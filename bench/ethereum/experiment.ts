import type { BenchServer } from '../database.ts';
import { type Part, runParts } from '../parts.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { measureCharges } from './charges.ts';
import { measureDeposits } from './deposits.ts';
import { measureDueCharges } from './due-charges.ts';
import { measureGas } from './gas.ts';
import { measureIdle } from './idle.ts';
import { measurePayouts } from './payouts.ts';
import { measureSigner } from './signer.ts';

const PARTS: readonly Part[] = [
  { rows: ['18a', '18b', '18c'], needsAnvil: true, measure: measureGas },
  { rows: ['18d'], needsAnvil: true, measure: measurePayouts },
  { rows: ['18e', '18f'], needsAnvil: true, measure: (_, options) => measureIdle(options) },
  { rows: ['18g'], needsAnvil: true, measure: measureDeposits },
  { rows: ['18h'], needsAnvil: true, measure: (_, options) => measureSigner(options) },
  { rows: ['20a', '20b', '20c'], needsAnvil: true, measure: measureCharges },
  { rows: ['20d'], needsAnvil: true, measure: measureDueCharges },
];

/** Rows 18 and 20: real money on a local Ethereum. */
export const runEthereum = (server: BenchServer, options: RunOptions): Promise<Findings> =>
  runParts(PARTS, server, options);
