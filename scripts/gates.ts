import { installScriptStep, licenceStep, lockStep, versionStep } from './dependencies.ts';
import { expressionStep } from './expressions.ts';
import { pageWeightStep } from './page-weight.ts';
import { contractStep } from './solidity.ts';
import { programStep } from './step.ts';

/** What every change has to pass before its tests are worth running. */
export const GATES = [
  programStep('types (tsc)', 'tsc', ['-p', 'tsconfig.json', '--pretty', 'false']),
  programStep('types of the payer page (tsc)', 'tsc', [
    '-p',
    'packages/pages/tsconfig.json',
    '--pretty',
    'false',
  ]),
  programStep('format and lint (biome)', 'biome', ['ci', '--colors=off', '.']),
  programStep('boundaries, promises, sizes (oxlint)', 'oxlint', []),
  programStep('unused code (knip)', 'knip', ['--no-progress', '--no-config-hints']),
  pageWeightStep,
  expressionStep,
  contractStep,
  versionStep,
  lockStep,
  installScriptStep,
  licenceStep,
];
