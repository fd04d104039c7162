import type { JobHandler } from '../platform/jobs/index.ts';
import { FUND_JOB, payFunding, type SandboxDeps } from './fund.ts';
import { OUTAGE_END_JOB } from './outage-end.ts';

/** The handlers of this module's jobs, by kind. */
export const sandboxHandlers = (deps: SandboxDeps): [kind: string, handler: JobHandler][] => [
  [FUND_JOB, (job) => payFunding(deps, job)],
  [OUTAGE_END_JOB, async () => 'done'],
];
