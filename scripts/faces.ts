import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { FAILED, PASSED, ROOT, type Step } from './step.ts';

const SERVER = path.join(ROOT, 'packages', 'server', 'src');

/** A new module's face names what other modules call: about ten things. */
const USUAL_NAMES = 12;

/** Faces that are larger, with the number of names they have. A number here may fall and never rise. */
const LARGE_FACES: Record<string, number> = {
  payments: 59,
  'platform/db': 54,
  transfers: 56,
  chains: 54,
  stores: 35,
  'platform/http': 32,
  'payment-methods': 30,
  invoices: 29,
  refunds: 22,
  ledger: 20,
  tenancy: 20,
  'platform/jobs': 18,
  checkout: 17,
  payouts: 16,
  subscriptions: 16,
};

/** The names that other modules may import of a module. */
export const namesOf = (file: string, source: string): string[] =>
  parseSync(file, source).module.staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName }) => exportName.name ?? '*'),
  );

/** Each face with the number of its names: modules, and folders of `platform`. */
function countNames(): [face: string, names: number][] {
  const folders = ['', 'platform'].flatMap((parent) =>
    readdirSync(path.join(SERVER, parent)).map((name) => path.posix.join(parent, name)),
  );
  return folders.flatMap((folder): [string, number][] => {
    const file = path.join(SERVER, folder, 'index.ts');
    if (!existsSync(file)) return [];
    return [[folder, namesOf(file, readFileSync(file, 'utf8')).length]];
  });
}

/** What is wrong with the faces: too many names, or a limit that is no longer needed. */
export function findLargeFaces(
  counts: readonly [face: string, names: number][],
  limits: Readonly<Record<string, number>>,
): string[] {
  return counts.flatMap(([face, names]) => {
    const limit = limits[face] ?? USUAL_NAMES;
    if (names > limit) return [`${face} names ${names} things, at most ${limit}`];
    if (face in limits && names < limit)
      return [`${face} names ${names} things: lower its limit from ${limit}`];
    return [];
  });
}

export const faceStep: Step = {
  name: "names of the modules' faces",
  run: async () => {
    const faults = findLargeFaces(countNames(), LARGE_FACES);
    for (const fault of faults) console.error(fault);
    return faults.length === 0 ? PASSED : FAILED;
  },
};
