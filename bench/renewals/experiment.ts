import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { startChild } from '../child.ts';
import { load } from '../create/load.ts';
import { pgbenchVersion, runPgbench } from '../create/pgbench.ts';
import { buildReads } from '../create/requests.ts';
import { type BenchServer, reset } from '../database.ts';
import { cpuSeconds, residentMegabytes, serverCpuSeconds } from '../procfs.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowResult, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { median, percentile, ratios, short } from '../statistics.ts';
import { Company } from './company.ts';
import { type Limit, recordRenewals } from './limit.ts';

const PGBENCH_CLIENTS = 10;
const LIST = '/api/v1/subscriptions?limit=20';
/** Requests that are signed together: a signature is good for some minutes. */
const READS = 50;

/** How much of everything a run does. */
const sizesOf = (quick: boolean) =>
  quick
    ? { renewals: 200, merchants: 50, seconds: 5, idleReads: 300 }
    : { renewals: 5_000, merchants: 1_000, seconds: 5, idleReads: 3_000 };

/** Row 10: subscriptions that come due together, and the API beside them. */
export async function runRenewals(server: BenchServer, options: RunOptions): Promise<Findings> {
  const findings: Findings = { results: [], remarks: [] };
  const isWanted = (...rows: RowResult['row'][]) => rows.some((row) => options.wanted.has(row));
  if (isWanted('10a', '10b')) merge(findings, await measureRates(server, options));
  if (isWanted('10c')) merge(findings, await measureReads(server, options));
  return { ...findings, results: findings.results.filter(({ row }) => isWanted(row)) };
}

function merge(findings: Findings, { results, remarks }: Findings): void {
  findings.results.push(...results);
  findings.remarks.push(...remarks);
}

async function measureRates(server: BenchServer, options: RunOptions): Promise<Findings> {
  const { renewals, merchants, seconds } = sizesOf(options.quick);
  const limit = await recordRenewals(server, PGBENCH_CLIENTS);
  const [one, many] = [await Company.open(server, 1), await Company.open(server, merchants)];
  const micros = { node: [] as number[], postgres: [] as number[] };
  const renew = async (company: Company) => {
    const worker = startChild('checkout/worker.ts', { env: company.env, profileDir: options.profileDir });
    try {
      await worker.next();
      await company.renew(Math.ceil(renewals / 10));
      const before = [cpuSeconds(worker.pid), serverCpuSeconds(server.pid)] as const;
      const rate = await company.renew(renewals);
      micros.node.push(((cpuSeconds(worker.pid) - before[0]) * 1e6) / renewals);
      micros.postgres.push(((serverCpuSeconds(server.pid) - before[1]) * 1e6) / renewals);
      return rate;
    } finally {
      await worker.stop();
    }
  };
  try {
    // Until the database has in memory what all rounds use.
    await replay(limit, seconds);
    const values = await interleave(
      [
        { name: 'renewals/s, 1 merchant', run: () => renew(one) },
        { name: `renewals/s, ${merchants} merchants`, run: () => renew(many) },
        { name: 'pgbench', run: () => replay(limit, seconds) },
      ],
      options,
    );
    const [ours = [], shared = [], theirs = []] = Object.values(values);
    const trips = new Set(limit.script.statements.map(({ trip }) => trip)).size;
    return {
      results: [
        { row: '10a', values: ratios(ours, theirs), raw: { 'renewals/s': ours, 'limit renewals/s': theirs } },
        { row: '10b', values: ratios(ours, shared), raw: { 'renewals/s of many': shared } },
      ],
      remarks: [
        `Renewals: ${limit.script.statements.length} statements in ${trips} trips from the due time to the paid invoice, ` +
          `the queue's own and the simulated chain's aside; ${short(median(micros.node))} us CPU of Node and ` +
          `${short(median(micros.postgres))} us of PostgreSQL a renewal with all of them, ${renewals} due at once. ` +
          `Three blocks of a second each, until a charge is final, are a part of the time.`,
      ],
    };
  } finally {
    await Promise.all([limit.close(), one.close(), many.close()]);
  }
}

async function replay({ script, databaseUrl }: Limit, seconds: number): Promise<number> {
  await reset(databaseUrl, script.tables);
  const timing = { clients: PGBENCH_CLIENTS, seconds };
  if (pgbenchVersion() !== undefined) return await runPgbench(databaseUrl, script, timing);
  const argument = { url: databaseUrl, script, ...timing };
  return (await startChild('create/by-driver.ts', { argument }).next<{ perSecond: number }>()).perSecond;
}

/** The list of subscriptions on an API node while a worker renews, against the same while nothing happens. */
async function measureReads(server: BenchServer, options: RunOptions): Promise<Findings> {
  const { renewals, idleReads } = sizesOf(options.quick);
  const company = await Company.open(server, 1);
  const worker = startChild('checkout/worker.ts', { env: company.env });
  const api = await startService(company, {});
  try {
    await worker.next();
    const key = await keyOf(company);
    const read = async () => (await load(api.baseUrl, buildReads(key, READS, LIST), 1)).latenciesMs;
    await company.renew(Math.ceil(renewals / 10));
    const values: number[] = [];
    const megabytes = { api: [] as number[], worker: [] as number[] };
    const raw: Record<string, number[]> = { 'p99 ms idle': [], 'p99 ms beside renewals': [] };
    for (let round = 0; round < options.rounds; round++) {
      const idle: number[] = [];
      while (idle.length < idleReads) idle.push(...(await read()));
      const before = { api: residentMegabytes(api.pid), worker: residentMegabytes(worker.pid) };
      const busy: number[] = [];
      let isOver = false;
      const renewing = company.renew(renewals).finally(() => {
        isOver = true;
      });
      while (!isOver) busy.push(...(await read()));
      await renewing;
      megabytes.api.push(residentMegabytes(api.pid) - before.api);
      megabytes.worker.push(residentMegabytes(worker.pid) - before.worker);
      raw['p99 ms idle']?.push(percentile(idle, 0.99));
      raw['p99 ms beside renewals']?.push(percentile(busy, 0.99));
      values.push(percentile(busy, 0.99) / percentile(idle, 0.99));
      options.log(
        `  round ${round + 1}/${options.rounds} p99 beside renewals: ${short(values.at(-1) ?? 0)} times idle`,
      );
    }
    return {
      results: [{ row: '10c', values, raw }],
      remarks: [
        `Beside ${renewals} renewals at once the list of subscriptions answers in ` +
          `${short(median(raw['p99 ms beside renewals'] ?? []))} ms at p99, else in ${short(median(raw['p99 ms idle'] ?? []))} ms. ` +
          `Meanwhile the API's process grew by ${short(median(megabytes.api))} MB and the worker's by ` +
          `${short(median(megabytes.worker))} MB, at most ${short(Math.max(...megabytes.api))} and ` +
          `${short(Math.max(...megabytes.worker))} MB in one round.`,
      ],
    };
  } finally {
    await Promise.all([api.stop(), worker.stop()]);
    await company.close();
  }
}

async function keyOf({ app, owners: [owner] }: Company) {
  if (owner === undefined) throw new Error('a company has a merchant');
  return await storeKeys.createKey(app, { ...owner, name: 'Bench', validityDays: 0, scopes: ['read'] });
}
