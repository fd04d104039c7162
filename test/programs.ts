import path from 'node:path';
import { builtFolder } from '../packages/pages/src/builds.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const BUILDS = path.join(ROOT, 'node_modules/.cache/programs');

/** What they are made of: data that code imports, and who decides on the versions of others' code, too. */
const SOURCES = {
  packageFolder: BUILDS,
  root: ROOT,
  patterns: [
    'package-lock.json',
    'contracts/**/*.json',
    'packages/*/{package.json,bin/*.js,locales/*.json,src/**/*.{ts,tsx,json}}',
    'scripts/bundle-programs.ts',
    'test/faults/node-process.ts',
  ],
};

/** The command from its sources: 2,400 modules, a second of computing for each start. */
export const FLORIN_SOURCE = path.join(ROOT, 'packages/cli/bin/florin.js');

/**
 * The same code in a few files, as its package has it, made when this version of it has not been made yet. It starts in a
 * quarter of the time, and the tests start it many hundred times.
 */
const folder = await builtFolder(
  path.join(BUILDS, 'given'),
  SOURCES,
  path.join(ROOT, 'scripts/bundle-programs.ts'),
);

/** The command `florin`. */
export const FLORIN = path.join(folder, 'bin', 'florin.js');
/** `faults/node-process.ts`. */
export const NODE_PROCESS = path.join(folder, 'lib', 'node-process.js');
