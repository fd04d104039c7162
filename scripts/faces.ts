import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { FAILED, PASSED, ROOT, type Step } from './step.ts';

const SERVER = path.join(ROOT, 'packages', 'server', 'src');

/** A face names what other modules call: about ten operations of one subject. What is more is a folder with a face. */
const MOST_NAMES = 12;

/** The values that other modules may import of a face. Types come along with what takes or gives them. */
export const namesOf = (file: string, source: string): string[] =>
  parseSync(file, source).module.staticExports.flatMap(({ entries }) =>
    entries
      .filter(({ isType }) => !isType)
      .map(({ exportName, importName }) => exportName.name ?? importName.name ?? '*'),
  );

/** Each face with the number of its names. */
function countNames(): [face: string, names: number][] {
  return globSync('**/index.ts', { cwd: SERVER }).map((file): [string, number] => [
    path.dirname(file),
    namesOf(file, readFileSync(path.join(SERVER, file), 'utf8')).length,
  ]);
}

/** The faces with too many names. */
export const findLargeFaces = (counts: readonly [face: string, names: number][]): string[] =>
  counts
    .filter(([, names]) => names > MOST_NAMES)
    .map(([face, names]) => `${face} names ${names} things, at most ${MOST_NAMES}`);

export const faceStep: Step = {
  name: "names of the modules' faces",
  run: async () => {
    const faults = findLargeFaces(countNames());
    for (const fault of faults) console.error(fault);
    return faults.length === 0 ? PASSED : FAILED;
  },
};
