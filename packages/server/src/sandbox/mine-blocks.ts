import type { Network } from '@florin/contract/money';
import { transact } from '../platform/db/index.ts';
import { hastenClockJobs } from '../platform/jobs/index.ts';
import { SEND_JOB } from '../transfers/index.ts';
import type { SandboxDeps } from './fund.ts';

/** The longest interval between two runs of a send job. */
const SEND_INTERVAL_MAX_MS = 60_000;

/** Mines blocks and lets the send jobs run now: their next run was scheduled by the normal pace of blocks. */
export async function mineBlocks(
  deps: Pick<SandboxDeps, 'db' | 'chains' | 'clock'>,
  merchantId: string,
  { network, blocks }: { network: Network; blocks: number },
): Promise<void> {
  await deps.chains.sandbox(merchantId, network).mine(blocks);
  const nowMs = deps.clock.nowMs();
  const jobs = { kinds: [SEND_JOB], untilMs: nowMs + SEND_INTERVAL_MAX_MS, nowMs };
  await transact(deps.db, (tx) => hastenClockJobs(tx, merchantId, jobs));
}
