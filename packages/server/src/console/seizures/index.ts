export { decideAsOperator, withdrawDecision } from './decide.ts';
export { readSeizures, type Seizure } from './read-seizures.ts';
