import { wordsOf } from '../packages/pages/src/words.ts';
import { sum } from './counts.ts';
import { GATES } from './gates.ts';
import { endOf, runSteps } from './step.ts';

wordsOf(
  `npm run check
  Runs the gates that a change has to pass before it is worth testing (CONTRIBUTING.md).`,
  [0, 0],
);

const results = await runSteps(GATES);
const total = sum(results);
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`\n${endOf(results)}`);
