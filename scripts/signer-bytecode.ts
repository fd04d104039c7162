import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { BatchPayout, Collector, SweepDelegate, Sweeper } from '../contracts/artifacts/index.ts';
import { execute, ROOT } from './step.ts';

const FILE = 'packages/signer/src/bytecode.ts';

/** The signer signs deployments of this code alone, and imports nothing from outside its package. */
export function signerBytecode(): Record<string, string> {
  return {
    BatchPayout: BatchPayout.bytecode,
    Collector: Collector.bytecode,
    SweepDelegate: SweepDelegate.bytecode,
    Sweeper: Sweeper.bytecode,
  };
}

export async function writeSignerBytecode(): Promise<string> {
  const lines = Object.entries(signerBytecode()).map(([name, code]) => `  ${name}:\n    '${code}',`);
  const text = `// Made by npm run contracts.\nexport const BYTECODE = {\n${lines.join('\n')}\n} as const;\n`;
  writeFileSync(path.join(ROOT, FILE), text);
  await execute('biome', ['format', '--write', FILE], { quiet: true });
  return FILE;
}
