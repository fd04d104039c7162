import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { florin, isAlive, startSandbox } from './florin-command.ts';
import { isSecondRun, makeDataDir } from './sandbox-of-commands.ts';

const LONG_MS = 120_000;

/** A Node of the machine's own that is too old for the command. */
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find((node) => {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const [, major = '99', minor = '0'] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19);
});
if (!isSecondRun && oldNode === undefined) console.warn('skipped: this machine has no Node older than 22.19');

describe.skipIf(isSecondRun || oldNode === undefined)('on an older Node', { timeout: LONG_MS }, () => {
  const node = String(oldNode);

  test('the command hands over to the Node that npm brought, exit code and all', async () => {
    const help = await florin(['--help'], { node, cwd: tmpdir() });
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('ledger') });
    expect((await florin(['lodger'], { node })).code).toBe(2);
  });

  test('signals reach the service, and a killed command leaves nothing that holds the folder', async () => {
    const folder = makeDataDir();
    const killed = await startSandbox(folder, { node });
    await killed.stop('SIGKILL');
    const next = await startSandbox(folder, { node });
    expect(next.postgresPid).toBe(killed.postgresPid);
    expect((await next.stop('SIGTERM')).code).toBe(0);
    // Taken over from a killed parent, it is a child of init, which says when it is gone.
    await expect.poll(() => isAlive(next.postgresPid), { timeout: 60_000 }).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
