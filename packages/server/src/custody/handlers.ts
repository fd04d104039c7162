import { CREDITED_JOB } from '../payments/deposits/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import type { JobHandler } from '../platform/jobs/index.ts';
import { AUDIT_JOB } from '../transfers/blocks/index.ts';
import { INSUFFICIENT_COINS_JOB } from '../transfers/index.ts';
import { auditNetwork } from './audit.ts';
import { type CustodyDeps, SWEPT_JOB, settleSweeps, sweepAll, sweepDeposits } from './sweep.ts';
import { WATCH_TANK_JOB, watchTank } from './watch-tank.ts';

/** The handlers of this module's jobs, by kind; `payments` and `transfers` enqueue most of them. */
export const custodyHandlers = (deps: PaymentDeps & CustodyDeps): [kind: string, handler: JobHandler][] => [
  [CREDITED_JOB, (job, run) => sweepDeposits(deps, job, run)],
  [AUDIT_JOB, (job) => auditNetwork(deps, job)],
  [INSUFFICIENT_COINS_JOB, (job, run) => sweepAll(deps, job, run)],
  [WATCH_TANK_JOB, () => watchTank(deps)],
  [SWEPT_JOB, (job, run) => settleSweeps(deps, job, run)],
];
