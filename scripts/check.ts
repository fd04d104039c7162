import { closingLine, sum } from './counts.ts';
import { GATES } from './gates.ts';
import { runSteps } from './step.ts';

const total = sum(await runSteps(GATES));
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`\n${closingLine(total)}`);
