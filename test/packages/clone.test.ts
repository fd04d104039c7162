import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { isAlive } from '../../packages/server/src/data-folder.ts';
import { FULL } from '../scale.ts';
import { isRegistryReachable, output } from './installed.ts';

// From a clone to the first signed payout, by the lines of the README.

const ROOT = path.resolve(import.meta.dirname, '../..');
const MINUTES = { timeout: 600_000, interval: 200 };
const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');

/** The command that begins like this in a block of the README. */
function block(beginning: string): string {
  const blocks = [...readme.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '');
  const found = blocks.find((text) => text.startsWith(beginning));
  if (found === undefined) throw new Error(`the README has no block that begins with ${beginning}`);
  return found;
}

async function isClonable(): Promise<boolean> {
  try {
    await output(ROOT, 'git', ['rev-parse', '--verify', '-q', 'HEAD']);
    return true;
  } catch {
    console.warn('skipped: this checkout is no git repository that could be cloned');
    return false;
  }
}

/**
 * Gives a clone this checkout's packages, which `npm ci` has unpacked from the same lock file: to unpack them once more is half of the test.
 *
 * @returns whether the two are on one disk; else nothing was done
 */
async function shareModules(clone: string): Promise<boolean> {
  const folders = globSync('{.,packages/*,examples}/node_modules', { cwd: ROOT });
  try {
    for (const folder of folders) await output(ROOT, 'cp', ['-al', folder, path.join(clone, folder)]);
    // What is made of the sources is made anew in the clone.
    rmSync(path.join(clone, 'node_modules/.cache'), { recursive: true, force: true });
    return true;
  } catch {
    for (const folder of folders) rmSync(path.join(clone, folder), { recursive: true, force: true });
    return false;
  }
}

const canRun = (await isClonable()) && (await isRegistryReachable());

describe.skipIf(!canRun)('whoever clones the repository', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-clone-'));
  const clone = path.join(folder, 'florin');
  let log = '';
  afterAll(async () => {
    const pid = Number(/or kill (\d+)/.exec(log)?.[1]);
    if (pid > 0) {
      process.kill(pid, 'SIGTERM');
      await vi.waitUntil(() => !isAlive(pid), MINUTES);
    }
    const database = /database in (\S+)/.exec(log)?.[1];
    for (const left of [database, folder]) if (left) rmSync(left, { recursive: true, force: true });
  }, MINUTES.timeout);

  test('has a signed payout within a minute of machine time', { timeout: 900_000 }, async () => {
    await output(folder, 'git', ['clone', '-q', '--no-hardlinks', ROOT, clone]);
    const startMs = performance.now();
    const [install, start] = (block('npm ci && npm start').split('#')[0] ?? '').split('&&');
    if (FULL || !(await shareModules(clone))) await output(clone, 'sh', ['-c', `${install}`]);
    const installedMs = performance.now();
    const service = spawn('sh', ['-c', `exec ${start?.trim()} -- --port 0`], {
      cwd: clone,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    service.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    await vi.waitUntil(() => log.includes('Florin is running'), MINUTES);
    const readyMs = performance.now();
    const payout = spawn('sh', ['-c', block('cat > batch.json')], { cwd: clone });
    let said = '';
    for (const stream of [payout.stdout, payout.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    const [code] = await once(payout, 'close');
    const seconds = [installedMs, readyMs, performance.now()].map((ms) => ((ms - startMs) / 1000).toFixed(1));
    console.log(
      `from a clone: installed after ${seconds[0]} s, ready after ${seconds[1]} s, paid after ${seconds[2]} s`,
    );
    // One of the three people has an address at which the chain always fails.
    expect(code, said).toBe(1);
    expect(said).toContain('partially_completed');
  });
});
