import type { BenchServer } from '../database.ts';
import { type Part, runParts } from '../parts.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { measureSolanaLooks } from './solana-looks.ts';
import { measureSolanaPayouts } from './solana-payouts.ts';
import { measureStart } from './start.ts';
import { measureTronIdle } from './tron-idle.ts';
import { measureTronPayouts } from './tron-payouts.ts';

const PARTS: readonly Part[] = [
  { rows: ['23a', '23b'], needsAnvil: false, measure: measureSolanaPayouts },
  { rows: ['23c', '23d'], needsAnvil: true, measure: measureTronPayouts },
  { rows: ['23e', '23h'], needsAnvil: true, measure: (_, options) => measureTronIdle(options) },
  { rows: ['23f'], needsAnvil: false, measure: measureSolanaLooks },
  { rows: ['23g'], needsAnvil: true, measure: (_, options) => measureStart(options) },
];

/** Row 23: real money on a local Solana and a local Tron. */
export const runNetworks = (server: BenchServer, options: RunOptions): Promise<Findings> =>
  runParts(PARTS, server, options);
