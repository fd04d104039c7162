import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../child.ts';
import { type BenchServer, execute } from '../database.ts';
import { cpuSeconds, serverCpuSeconds } from '../procfs.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import { openTills, Till } from './till.ts';

const MERCHANTS = 1_000;
const QUIET_FOR_SECONDS = 100;
const SCAN_EVERY_SECONDS = 5;
const LOOKS_MIN = 100;
const SCAN_JOBS = `
  insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, follows_clock, payload)
  select merchant_id, gen_random_uuid(), 'checkout.scan', network, (extract(epoch from now()) * 1000)::bigint, false,
    jsonb_build_object('network', network) from deposit_cursor`;
/** As long ago as makes looks most rare while somebody may still be paying. */
const QUIET = `
  update deposit_cursor set news_at = extract(epoch from now())::bigint - ${QUIET_FOR_SECONDS}`;

/** Each look asks once whether anything was seen that is not final; where nobody pays, nobody else asks. */
async function countLooks(databaseUrl: string): Promise<number> {
  const [scans] = await execute(
    databaseUrl,
    `select (seq_scan + idx_scan)::int as n from pg_stat_user_tables where relname = 'payment_transaction'`,
  );
  return scans?.rows[0]?.n ?? 0;
}

/** Row 13d: payers who have chosen an option and take their time. */
export async function measureIdle(server: BenchServer, options: RunOptions): Promise<Findings> {
  const databaseUrl = await server.createDatabase();
  const { app, masterKey } = await openTills(databaseUrl);
  try {
    for (let i = 0; i < MERCHANTS; i++) await (await Till.open(app)).openPayments(1);
  } finally {
    await app.close();
  }
  await execute(databaseUrl, 'analyze', QUIET, SCAN_JOBS);
  const worker = startChild('checkout/worker.ts', {
    profileDir: options.profileDir,
    env: { DATABASE_URL: databaseUrl, FLORIN_MASTER_KEY: masterKey.toString('hex') },
  });
  const seconds = options.quick ? 10 : 20;
  try {
    await worker.next();
    // The first look of each reads its chain from the beginning.
    await sleep(15_000);
    const values: number[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const [node, postgres] = [cpuSeconds(worker.pid), serverCpuSeconds(server.pid)];
      const before = await countLooks(databaseUrl);
      let looks = 0;
      // The server tells of its scans a little late.
      for (; looks < LOOKS_MIN; looks = (await countLooks(databaseUrl)) - before) await sleep(seconds * 1000);
      const busy = cpuSeconds(worker.pid) - node + serverCpuSeconds(server.pid) - postgres;
      // On a machine that others load some looks come late: what each costs is counted, for as many as are due.
      values.push((busy / looks) * (MERCHANTS / SCAN_EVERY_SECONDS));
      options.log(`  round ${round + 1}/${options.rounds} idle: ${short(values.at(-1) ?? 0)} processors`);
    }
    const [late] = await execute(
      databaseUrl,
      `select coalesce(max((extract(epoch from now()) * 1000)::bigint - due_at_ms), 0)::int as ms from job
       where kind = 'checkout.scan' and due_at_ms < extract(epoch from now()) * 1000`,
    );
    return {
      results: [{ row: '13d', values }],
      remarks: [
        `${MERCHANTS.toLocaleString('en-US')} merchants with one unpaid session each are scanned every ` +
          `${SCAN_EVERY_SECONDS} s; worker ` +
          `and PostgreSQL together take ${short(median(values))} of a processor, and the scan that is longest due ` +
          `waits ${short((late?.rows[0]?.ms ?? 0) / 1000)} s.`,
      ],
    };
  } finally {
    await worker.stop();
  }
}
