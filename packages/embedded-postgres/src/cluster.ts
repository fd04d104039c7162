import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Account, run } from './account.ts';
import type { Binaries, PostgresVersion } from './binaries.ts';
import type { Layout, Placement } from './placement.ts';

export const SUPERUSER = 'florin';

/** 18 has a built-in locale that is equal on every system; 15 uses the C locale of the C library. */
const LOCALE: Record<PostgresVersion, string[]> = {
  18: ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
  15: ['--locale-provider=libc', '--locale=C', '--data-checksums'],
};

/**
 * Creates the cluster if there is none. Returns the superuser's password.
 * @throws where the folder holds another major version or the password file of an existing cluster is gone.
 */
export async function ensureCluster(
  { layout, account }: Placement,
  binaries: Binaries,
  options: { version: PostgresVersion; durable: boolean },
): Promise<string> {
  const found = await clusterVersion(layout);
  if (found === undefined) {
    const password = (await readPassword(layout)) ?? (await writePassword(layout, account));
    await initialise({ layout, account }, binaries, options);
    return password;
  }
  if (found !== String(options.version)) {
    throw new Error(`${layout.folder} holds data of PostgreSQL ${found}, not of ${options.version}`);
  }
  const password = await readPassword(layout);
  if (password === undefined) throw new Error(`The password file ${layout.password} is missing or empty`);
  return password;
}

async function clusterVersion(layout: Layout): Promise<string | undefined> {
  return (await readOptional(path.join(layout.cluster, 'PG_VERSION')))?.trim();
}

async function readPassword(layout: Layout): Promise<string | undefined> {
  const password = (await readOptional(layout.password))?.trim();
  return password === '' ? undefined : password;
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writePassword(layout: Layout, account: Account | undefined): Promise<string> {
  const password = randomBytes(24).toString('hex');
  await rm(layout.password, { force: true });
  const file = await open(layout.password, 'wx', 0o600);
  try {
    await file.writeFile(`${password}\n`);
    // initdb reads it under the account.
    if (account !== undefined) await file.chown(account.uid, account.gid);
    await file.sync();
  } finally {
    await file.close();
  }
  return password;
}

/** Built in a temporary folder and renamed, so that a killed start leaves no half cluster. */
async function initialise(
  { layout, account }: Placement,
  { initdb }: Binaries,
  { version, durable }: { version: PostgresVersion; durable: boolean },
): Promise<void> {
  const draft = `${layout.cluster}.draft`;
  await rm(draft, { recursive: true, force: true });
  await makeOwnFolder(draft, account);
  const access = ['-U', SUPERUSER, `--pwfile=${layout.password}`, '--auth=scram-sha-256'];
  const text = ['--encoding=UTF8', ...LOCALE[version]];
  const speed = durable ? [] : ['--no-sync'];
  const made = await run(account, initdb, ['-D', draft, ...access, ...text, ...speed, '--no-instructions']);
  if (!made.ok) {
    await rm(draft, { recursive: true, force: true });
    throw new Error(`initdb failed in ${layout.folder}: ${made.output}`);
  }
  await rename(draft, layout.cluster);
}

async function makeOwnFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (account === undefined) return;
  const handle = await open(folder, 'r');
  try {
    await handle.chown(account.uid, account.gid);
  } finally {
    await handle.close();
  }
}
