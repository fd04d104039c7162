import { programStep } from './step.ts';

/** What every change has to pass before its tests are worth running. */
export const GATES = [
  programStep('types (tsc)', 'tsc', ['-p', 'tsconfig.json', '--pretty', 'false']),
  programStep('format and lint (biome)', 'biome', ['ci', '--colors=off', '.']),
  programStep('boundaries, promises, sizes (oxlint)', 'oxlint', []),
  programStep('unused code (knip)', 'knip', ['--no-progress', '--no-config-hints']),
];
