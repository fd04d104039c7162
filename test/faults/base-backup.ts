import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import type { DatabaseServer } from './database-server.ts';
import { launchCluster } from './replica.ts';

const run = promisify(execFile);
/** Files that go while they are copied are in the log anyway. */
const passOver = (error: unknown) => {
  if (!String(error).includes('No such file')) throw error;
};

export interface BaseBackup {
  /** Starts it as a server of its own. @returns its address */
  start(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Copies the files of a running server, as the manual says.
 *
 * @param isRecovered started with `recovery.signal`, as for a recovery to a point in time, which begins a timeline;
 *   without, nothing in the copy tells it from the original
 */
export async function takeBaseBackup(
  database: DatabaseServer,
  name: string,
  isRecovered: boolean,
): Promise<BaseBackup> {
  const source = path.join(database.dataFolder, 'cluster');
  const folder = path.join(database.folder, name);
  const session = await database.connect();
  await session.query('select pg_backup_start($1, true)', [name]);
  await run('cp', ['-a', source, folder]).catch(passOver);
  const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await session.end();
  await run('cp', ['-a', path.join(source, 'pg_wal'), folder]).catch(passOver);
  await rm(path.join(folder, 'postmaster.pid'), { force: true });
  const { uid, gid } = await stat(folder);
  const put = async (file: string, text: string) => {
    await writeFile(path.join(folder, file), text);
    await chown(path.join(folder, file), uid, gid);
  };
  await put('backup_label', rows[0]?.labelfile ?? '');
  if (isRecovered) {
    await put('recovery.signal', '');
    await appendFile(path.join(folder, 'postgresql.auto.conf'), "restore_command = 'false'\n");
  }
  let end = async () => {};
  return {
    start: async () => {
      const url = new URL(database.url);
      url.port = String(await freePort());
      const child = await launchCluster(database, folder, url.port);
      end = async () => {
        const ended = once(child, 'exit');
        child.kill('SIGINT');
        await ended;
      };
      return url.href;
    },
    close: () => end(),
  };
}
