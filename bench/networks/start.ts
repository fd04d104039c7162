import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';

const SCRIPT = new URL('../../scripts/chains.ts', import.meta.url).pathname;

/** Row 23g: the command that people start them with, until it says where they are. */
export async function measureStart(options: RunOptions): Promise<Findings> {
  const { 'start of the nodes, seconds': seconds = [] } = await interleave(
    [{ name: 'start of the nodes, seconds', run: startOnce }],
    options,
  );
  return { results: [{ row: '23g', values: seconds }], remarks: [] };
}

async function startOnce(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-bench-'));
  const ports = ['--port', '--tron-port', '--solana-port'].flatMap((port) => [port, '0']);
  const file = path.join(folder, 'networks.json');
  const begun = performance.now();
  const child = spawn(process.execPath, [SCRIPT, ...ports, '--json', '--file', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const isStarted = await Promise.race([
      once(child.stdout, 'data').then(() => true),
      ended.then(() => false),
    ]);
    if (!isStarted) throw new Error('the nodes did not start');
    return (performance.now() - begun) / 1_000;
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}
