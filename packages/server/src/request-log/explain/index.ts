export { explainRefusal } from './explain-refusal.ts';
export type { RefusalExplanation } from './explanation.ts';
