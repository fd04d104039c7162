import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Counts } from './counts.ts';
import { execute, FAILED, PASSED, programStep, ROOT, type Step } from './step.ts';

/** Licences that let anybody use, change and sell what they cover without opening their own code. */
const ALLOWED_LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
]);

/** Of tools that run here and are not shipped: a word list and its licence, type data. */
const ALLOWED_FOR_TOOLS = new Set([...ALLOWED_LICENCES, 'CC-BY-3.0', 'CC-BY-4.0', 'PSF-2.0']);

const EXACT_VERSION = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.-]+)?$/;

const DEPENDENCY_FIELDS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const;

interface PackageJson {
  allowScripts?: Record<string, boolean>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface LockEntry {
  name?: string;
  version?: string;
  dev?: boolean;
  link?: boolean;
  hasInstallScript?: boolean;
}

interface Lock {
  /** By the place in the tree: `node_modules/a/node_modules/b`. */
  packages: Record<string, LockEntry>;
}

/** npm takes an older major without a word where a range lets it: only exact versions are what was tested. */
export const versionStep: Step = {
  name: 'exact versions (package.json)',
  run: async () => {
    const files = ['package.json', ...globSync('{packages/*,examples}/package.json', { cwd: ROOT })];
    return report(
      files.flatMap((file) =>
        inexactVersions(readJson<PackageJson>(file)).map((entry) => `${file}: ${entry}`),
      ),
    );
  },
};

/** An install that works is no proof that the lock does. */
export const lockStep = programStep('lock file (npm ci --dry-run)', 'npm', [
  'ci',
  '--dry-run',
  '--no-audit',
  '--no-fund',
]);

/** A dependency's install script runs on everybody's machine: each is looked at and listed in `allowScripts`. */
export const installScriptStep: Step = {
  name: 'install scripts (allowScripts)',
  run: async () => {
    const { allowScripts = {} } = readJson<PackageJson>('package.json');
    return report(unlistedScripts(readJson<Lock>('package-lock.json'), allowScripts));
  },
};

/** Libraries of the nodes for tests: 60 MB that no installation of Florin wants. */
const FOR_TESTS_ALONE = new Set(['litesvm', 'tronweb']);

/** npm marks what only tools need, however deep in the tree: without the mark a package of ours would bring it along. */
export const testLibraryStep: Step = {
  name: 'libraries for tests alone',
  run: async () => report(shippedTestLibraries(readJson<Lock>('package-lock.json'))),
};

/** What is shipped has to keep to the list, tools have some more freedom, and no package may go unseen. */
export const licenceStep: Step = {
  name: 'licences',
  run: async () => {
    const args = ['--json', '--excludePrivatePackages'];
    const { ok, stdout } = await execute('license-checker-rseidelsohn', args, { quiet: true });
    if (!ok) return FAILED;
    const found: Licences = JSON.parse(stdout);
    console.log(`${Object.keys(found).length} packages`);
    return report(
      licenceFaults(readJson<Lock>('package-lock.json'), found, (place) =>
        existsSync(path.join(ROOT, place)),
      ),
    );
  },
};

/** Entries `name@range` that leave npm a choice. */
export function inexactVersions(manifest: PackageJson): string[] {
  return DEPENDENCY_FIELDS.flatMap((field) => Object.entries(manifest[field] ?? {}))
    .filter(([, version]) => !EXACT_VERSION.test(version))
    .map(([name, version]) => `${name}@${version}`);
}

/** Packages of the lock that have an install script nobody has decided on. */
export function unlistedScripts(lock: Lock, allowScripts: Record<string, boolean>): string[] {
  return Object.entries(lock.packages)
    .filter(([, entry]) => entry.hasInstallScript === true)
    .map(([place, entry]) => nameOf(place, entry))
    .filter((name) => allowScripts[name] === undefined);
}

/** Test libraries that an installation of the product would get. */
export function shippedTestLibraries(lock: Lock): string[] {
  return Object.entries(lock.packages)
    .filter(([place, entry]) => FOR_TESTS_ALONE.has(nameOf(place, entry)) && entry.dev !== true)
    .map(([place]) => `${place} is a dependency of what is shipped`);
}

type Licences = Record<string, { licenses: string | string[] }>;

/**
 * Compares what the lock names and `isInstalled` has with the licences that were found, by `name@version`.
 * The lock knows what only tools need (`dev`); the checker's own idea of that stops at the root's package.json.
 */
export function licenceFaults(
  lock: Lock,
  found: Licences,
  isInstalled: (place: string) => boolean,
): string[] {
  const foreign = Object.entries(lock.packages).filter(
    ([place, { link }]) => place.includes('node_modules/') && link !== true && isInstalled(place),
  );
  return foreign.flatMap(([place, entry]) => {
    const id = `${nameOf(place, entry)}@${entry.version}`;
    const licence = [found[id]?.licenses ?? 'not seen by the licence checker'].flat().join(' AND ');
    const allowed = isAllowed(licence, entry.dev === true ? ALLOWED_FOR_TOOLS : ALLOWED_LICENCES);
    return allowed ? [] : [`${place}: ${licence}`];
  });
}

function nameOf(place: string, entry: LockEntry): string {
  const folder = 'node_modules/';
  return entry.name ?? place.slice(place.lastIndexOf(folder) + folder.length);
}

/** Reads a licence expression: of alternatives one has to be allowed, of several that hold together all. */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const alternatives = expression.replace(/[()*]/g, '').split(' OR ');
  return alternatives.some((all) => all.split(' AND ').every((licence) => allowed.has(licence.trim())));
}

function report(faults: string[]): Counts {
  for (const fault of faults) console.log(fault);
  return faults.length === 0 ? PASSED : FAILED;
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
}
