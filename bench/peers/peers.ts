import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { packageVersion } from '../machine.ts';

const FOLDER = new URL('./', import.meta.url);
const PEERS = ['graphile-worker', 'pg-boss'] as const;
export type Peer = (typeof PEERS)[number];

/** Versions of the queues that are compared with; undefined where one is not installed. */
export function peerVersions(): Record<Peer, string | undefined> {
  return {
    'graphile-worker': packageVersion(FOLDER, 'graphile-worker'),
    'pg-boss': packageVersion(FOLDER, 'pg-boss'),
  };
}

/**
 * Installs the queues to compare with into this folder, once. They are no workspace of the project, so that `npm ci`
 * is not burdened with them; where they cannot be had, their rows say so.
 */
export async function installPeers(log: (line: string) => void): Promise<void> {
  if (PEERS.every((peer) => peerVersions()[peer] !== undefined)) return;
  log(`Installing ${PEERS.join(' and ')} into bench/peers/node_modules, to compare with (npm ci, once) …`);
  const args = ['ci', '--no-workspaces', '--ignore-scripts', '--no-audit', '--no-fund'];
  const npm = spawn('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise<number | null>((resolve) => {
    npm.once('error', () => resolve(null));
    npm.once('close', resolve);
  });
  if (code !== 0)
    log('They could not be installed: rows that compare with them are reported as "peer absent".');
}

/** Loads a peer where it was installed. Its types are not known here, so that type checks do without it. */
export async function loadPeer<T>(peer: Peer): Promise<T> {
  const file = createRequire(import.meta.url).resolve(peer);
  return (await import(pathToFileURL(file).href)) as T;
}
