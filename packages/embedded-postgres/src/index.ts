import { adoptServer, readSettings, type Server, urlOf } from './adopt.ts';
import { nativeFolder, type PostgresVersion, prepareBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { launch } from './launch.ts';
import { takeLock } from './lock.ts';
import { defaultStateFolder, type Placement, placeData } from './placement.ts';
import { signalAtExit, stopPostmaster } from './postmaster.ts';

export { groupOfPostgres } from './placement.ts';

export interface PostgresOptions {
  /** Folder for the cluster and its password; made where it does not exist. */
  dataDir: string;
  /** Major version, 18 by default. */
  version?: PostgresVersion;
  /** False lets a crash of the machine lose or break data: for tests alone. */
  durable?: boolean;
  /** Receives each line of the server's log, as long as this process is the one that started it. */
  onLog?: (line: string) => void;
}

export interface Postgres {
  /** Address of the `postgres` database for the superuser, password included. */
  url: string;
  pid: number;
  /** The actual data directory; as root it may differ from the requested one. */
  dataDir: string;
  /** The server was left running by an earlier process and taken over. */
  adopted: boolean;
  /** Stops the server, also an adopted one, and releases the folder. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL on a data folder, or takes over the one a killed process left running there.
 * It listens on a free port of 127.0.0.1 alone, with a random password.
 * @throws with one clear line where another living process supervises the folder; with the end of the server's
 * log where it does not come up.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const stateFolder = defaultStateFolder();
  const placement = await placeData(options.dataDir, stateFolder);
  const release = takeLock(placement.layout.lock, placement.layout.folder);
  try {
    return await startLocked(placement, { stateFolder, release }, options);
  } catch (error) {
    release();
    throw error;
  }
}

async function startLocked(
  placement: Placement,
  { stateFolder, release }: { stateFolder: string; release: () => void },
  { version = 18, durable = true, onLog = () => {} }: PostgresOptions,
): Promise<Postgres> {
  const { layout, account } = placement;
  const binaries = await prepareBinaries(nativeFolder(version), account, stateFolder);
  const password = await ensureCluster(placement, binaries, { version, durable });
  const left = await adoptServer(layout, password, durable);
  const server =
    left ?? (await launch({ postgres: binaries.postgres, cluster: layout.cluster, account, durable, onLog }));
  const url = urlOf(server.port, password);
  const forget = signalAtExit(server.pid, layout.cluster);
  const stop = once(async () => {
    await stopPostmaster(server.pid, layout.cluster);
    forget();
    release();
  });
  if (left === undefined) await checkPassword(url, server, placement, stop);
  return { url, pid: server.pid, dataDir: layout.folder, adopted: left !== undefined, stop };
}

/** The password file may come from another cluster (a half restored backup), so it is checked once here. */
async function checkPassword(
  url: string,
  server: Server,
  { layout }: Placement,
  stop: () => Promise<void>,
): Promise<void> {
  try {
    await readSettings(url);
  } catch (cause) {
    await stop();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `PostgreSQL on port ${server.port} refuses the password of ${layout.password}: ${reason}`,
      { cause },
    );
  }
}

/** A second call waits for the first one's end; after a failure the next call tries again. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}
