import type { Network } from '@florin/contract/money';
import { transact } from '../platform/db/index.ts';
import { hastenClockJobs } from '../platform/jobs/index.ts';
import { SEND_JOB } from '../transfers/index.ts';
import type { SandboxDeps } from './fund.ts';

/** No two looks at what is sent lie further apart. */
const LOOKS_WITHIN_MS = 60_000;

/** Mines blocks by hand and has looked at what they decide, which was expected at the pace of the clock. */
export async function mineBlocks(
  deps: Pick<SandboxDeps, 'db' | 'chains' | 'clock'>,
  merchantId: string,
  { network, blocks }: { network: Network; blocks: number },
): Promise<void> {
  await deps.chains.sandbox(merchantId, network).mine(blocks);
  const nowMs = deps.clock.nowMs();
  const looks = { kinds: [SEND_JOB], untilMs: nowMs + LOOKS_WITHIN_MS, nowMs };
  await transact(deps.db, (tx) => hastenClockJobs(tx, merchantId, looks));
}
