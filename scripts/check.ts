import { closingLine, sum } from './counts.ts';
import { installScriptStep, licenceStep, lockStep, versionStep } from './dependencies.ts';
import { GATES } from './gates.ts';
import { runSteps } from './step.ts';

const results = await runSteps([...GATES, versionStep, lockStep, installScriptStep, licenceStep]);
const total = sum(results);
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`\n${closingLine(total)}`);
