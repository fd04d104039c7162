import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';

/** The operating system account of a program. */
export interface Account {
  uid: number;
  gid: number;
}

/** `nobody`: the number exists on every system, so no account has to be created on the host. */
export const NOBODY: Account = { uid: 65534, gid: 65534 };

/** A fixed, small environment, so that the caller's variables change neither PostgreSQL's behaviour nor its language. */
const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * The account PostgreSQL has to run under, as it refuses root: the owner of an existing cluster, else nobody.
 * Undefined if this process is not root; PostgreSQL then runs under the same account.
 */
export async function accountFor(clusterFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const cluster = await stat(clusterFolder).catch(() => undefined);
  return cluster === undefined || cluster.uid === 0 ? NOBODY : { uid: cluster.uid, gid: cluster.gid };
}

/** Spawn options for a program of PostgreSQL. The caller's own folder may be closed to the account: hence `/`. */
export function spawnOptions(account: Account | undefined) {
  return { ...account, cwd: '/', env: ENVIRONMENT };
}

/** Runs a program to its end; never throws. `output` holds what it printed or why it could not start. */
export function run(
  account: Account | undefined,
  program: string,
  args: string[],
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { ...spawnOptions(account), encoding: 'utf8' }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      resolve({ ok: error === null, output: output === '' && error !== null ? error.message : output });
    });
  });
}

/** Whether the account can enter a folder. Checked by the system itself, including access control lists. */
export async function canEnter(account: Account | undefined, folder: string): Promise<boolean> {
  return (await run(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder])).ok;
}
