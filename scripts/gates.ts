import { installScriptStep, licenceStep, lockStep, testLibraryStep, versionStep } from './dependencies.ts';
import { expressionStep } from './expressions.ts';
import { faceStep } from './faces.ts';
import { consoleWeightStep, pageWeightStep } from './page-weight.ts';
import { sizeStep } from './sizes.ts';
import { contractStep } from './solidity.ts';
import { programStep, type Step } from './step.ts';

/** Types of one project. What the last run knew of unchanged files is kept: a tenth of the time. */
function typeStep(name: string, project: string): Step {
  const kept = `node_modules/.cache/types/${project.replaceAll('/', '-')}.tsbuildinfo`;
  const args = ['-p', project, '--pretty', 'false', '--incremental', '--tsBuildInfoFile', kept];
  return programStep(name, 'tsc', args);
}

/** What every change has to pass before its tests are worth running. */
export const GATES = [
  typeStep('types (tsc)', 'tsconfig.json'),
  typeStep('types of the payer page (tsc)', 'packages/pages/tsconfig.json'),
  typeStep('types of the console (tsc)', 'packages/console/tsconfig.json'),
  typeStep('types of the docs (tsc)', 'packages/site/tsconfig.json'),
  programStep('format and lint (biome)', 'biome', ['ci', '--colors=off', '.']),
  programStep('boundaries, promises, sizes (oxlint)', 'oxlint', []),
  programStep('unused code (knip)', 'knip', ['--no-progress', '--no-config-hints']),
  faceStep,
  sizeStep,
  pageWeightStep,
  consoleWeightStep,
  expressionStep,
  contractStep,
  versionStep,
  lockStep,
  installScriptStep,
  licenceStep,
  testLibraryStep,
];
