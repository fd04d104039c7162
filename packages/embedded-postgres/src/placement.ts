import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, realpath, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Account, accountFor, canEnter } from './account.ts';

/** The layout of a data folder. */
export interface Layout {
  folder: string;
  /** PostgreSQL's own data directory. */
  cluster: string;
  /** The superuser's password, mode 0600. */
  password: string;
  /** Held by the one process that supervises this folder. */
  lock: string;
}

export interface Placement {
  layout: Layout;
  account: Account | undefined;
}

/** As root a folder that every account can reach, else the user's own; never a temporary folder. */
export function defaultStateFolder(): string {
  return process.getuid?.() === 0 ? '/var/lib/florin' : path.join(homedir(), '.local', 'state', 'florin');
}

/**
 * Decides where the data lives: in the requested folder, or below `stateFolder` where the account that PostgreSQL
 * runs under cannot reach it (a checkout under root's closed home). Once made, data is never passed over for a
 * new, empty place.
 */
export async function placeData(dataDir: string, stateFolder: string): Promise<Placement> {
  const requested = layoutOf(path.resolve(dataDir));
  const key = createHash('sha256').update(requested.folder).digest('hex').slice(0, 16);
  const fallback = layoutOf(path.join(stateFolder, key));
  if (!existsSync(requested.cluster) && existsSync(fallback.cluster)) {
    return { layout: fallback, account: await accountFor(fallback.cluster) };
  }
  const account = await accountFor(requested.cluster);
  const made = await mkdir(requested.folder, { recursive: true });
  if (await canEnter(account, requested.folder)) {
    return { layout: layoutOf(await realpath(requested.folder)), account };
  }
  if (existsSync(requested.cluster)) {
    throw new Error(`The data in ${requested.folder} cannot be reached by its owner, user ${account?.uid}`);
  }
  if (made !== undefined) await rm(made, { recursive: true });
  await mkdir(fallback.folder, { recursive: true });
  // Whatever the umask: the account must be able to pass through.
  for (const folder of [stateFolder, fallback.folder]) await chmod(folder, 0o755);
  return { layout: layoutOf(await realpath(fallback.folder)), account };
}

/** The group of the account that PostgreSQL runs under on this data, where that is not this process's own. */
export async function groupOfPostgres(dataDir: string): Promise<number | undefined> {
  return (await accountFor(layoutOf(path.resolve(dataDir)).cluster))?.gid;
}

function layoutOf(folder: string): Layout {
  return {
    folder,
    cluster: path.join(folder, 'cluster'),
    password: path.join(folder, 'password'),
    lock: path.join(folder, 'supervisor.lock'),
  };
}
