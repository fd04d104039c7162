import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../packages/server/src/platform/db/migrations/migrate.ts';
import { type Child, startChild } from '../child.ts';
import { type BenchServer, execute } from '../database.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import { fillFlorin } from './florin.ts';
import { COMPLETION_KIND, KIND, machineMs } from './queues.ts';

const JOBS = 20;
/** The product's own lease; frozen workers keep their session, so only the lease tells: a short one there. */
const LEASE_MS = 30_000;
const SHORT_LEASE_MS = 3_000;
const PATIENCE_MS = 60_000;
const QUIET_MS = 1_500;

/** Row 8: a worker that dies, or seems to, with jobs in its hands, while another one is looking for work. */
export async function runCrash(server: BenchServer, options: RunOptions): Promise<Findings> {
  const { rounds } = options;
  const url = await server.createDatabase();
  await migrate(url);
  const takeovers: number[] = [];
  const frozen: number[] = [];
  const lost: number[] = [];
  const twice: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const killed = await takeOver(url, 'SIGKILL', LEASE_MS);
    const froze = await takeOver(url, 'SIGSTOP', SHORT_LEASE_MS);
    takeovers.push(killed.seconds);
    frozen.push(froze.seconds);
    lost.push(killed.lost + froze.lost);
    twice.push(killed.twice + froze.twice);
    options.log(
      `  round ${round + 1}/${rounds} killed: ${short(killed.seconds)} s, frozen: ${short(froze.seconds)} s`,
    );
  }
  return {
    results: [
      { row: '8a', values: takeovers },
      { row: '8b', values: lost },
      { row: '8c', values: twice },
    ],
    remarks: [
      `Each round a worker with ${JOBS} jobs is killed, and another one with ${JOBS} is frozen, taken over after its lease ` +
        `of ${SHORT_LEASE_MS / 1000} s (${short(median(frozen))} s) and woken again.`,
    ],
  };
}

interface TakeOver {
  /** From the signal until the other worker began the first of the jobs. */
  seconds: number;
  lost: number;
  twice: number;
}

async function takeOver(url: string, signal: 'SIGKILL' | 'SIGSTOP', leaseMs: number): Promise<TakeOver> {
  await execute(url, 'truncate job');
  const holder = startChild('queue/crash-worker.ts', { argument: { url, hold: true, leaseMs } });
  await holder.next();
  await execute(url, fillFlorin(JOBS, 1));
  for (let i = 0; i < JOBS; i++) await holder.next();
  const heir = startChild('queue/crash-worker.ts', { argument: { url, hold: false, leaseMs } });
  await heir.next();
  await sleep(QUIET_MS);
  const killedMs = machineMs();
  holder.kill(signal);
  const { startedMs } = await heir.next<{ startedMs: number }>();
  await untilEmpty(url);
  if (signal === 'SIGSTOP') await wakeUp(holder);
  await Promise.all([holder.stop(), heir.stop()]);
  return { seconds: (startedMs - killedMs) / 1000, ...(await countCompletions(url)) };
}

/** The frozen worker goes on as if nothing had happened, and tries to finish what it held. */
async function wakeUp(holder: Child): Promise<void> {
  holder.kill('SIGCONT');
  holder.send('go on');
  await sleep(QUIET_MS);
}

async function untilEmpty(url: string): Promise<void> {
  const endMs = machineMs() + PATIENCE_MS;
  for (;;) {
    const [left] = await execute(url, `select count(*)::int as n from job where kind = '${KIND}'`);
    if (left?.rows[0]?.n === 0) return;
    if (machineMs() > endMs) return;
    await sleep(50);
  }
}

async function countCompletions(url: string): Promise<{ lost: number; twice: number }> {
  const [found] = await execute(
    url,
    `select count(*)::int as all_of_them, count(distinct payload->>'jobId')::int as jobs
     from job where kind = '${COMPLETION_KIND}'`,
  );
  const { all_of_them: all = 0, jobs = 0 } = found?.rows[0] ?? {};
  return { lost: JOBS - jobs, twice: all - jobs };
}
