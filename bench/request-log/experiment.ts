import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_BODY, SESSIONS } from '../checkout/sessions.ts';
import { load } from '../create/load.ts';
import { furnish, type Premises } from '../create/merchant.ts';
import { BATCHES, bodyWriter, buildRequests } from '../create/requests.ts';
import { type BenchServer, execute } from '../database.ts';
import { cpuSeconds, serverCpuSeconds } from '../procfs.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { type Service, startService } from '../service.ts';
import { meanOf, meanOfRatios, ratios, short } from '../statistics.ts';

const CONNECTIONS = 20;
/** The log is written up to 400 ms behind the last answer. */
const SETTLE_MS = 800;
/**
 * One round says little: a machine that others share is a tenth quicker in one second than in the next, and one process is some
 * hundredths quicker than another of the same code for as long as it lives. So rounds are short, and the nodes are started anew
 * until the interval of the mean of what each pair of them showed is narrower than what is to be shown.
 */
const INTERVAL_MAX = 0.05;
const ROUNDS_OF_NODES = 20;
const WARM_UP_ROUNDS = 8;
const NODES_MIN = 4;
const NODES_MAX = 20;
/** Rounds after which the tables are emptied. Odd, as what comes next pays for it: with and without the log in turns. */
const EMPTIED_AFTER = 11;
const TABLES = 'payout_batch, payout_item, checkout_session, payment, event, job, nonce, request_log';

interface Call {
  row: RowId;
  what: string;
  mode: 'live' | 'sandbox';
  path: string;
  body: () => Buffer;
  /** Requests of a round: about a second. */
  count: number;
}

const writeBody = bodyWriter('erc20');
const CALLS: readonly Call[] = [
  { row: '21a', what: '200 items', mode: 'live', path: BATCHES, body: () => writeBody(200), count: 60 },
  { row: '21b', what: '10 items', mode: 'live', path: BATCHES, body: () => writeBody(10), count: 200 },
  { row: '21c', what: '1 item', mode: 'live', path: BATCHES, body: () => writeBody(1), count: 250 },
  { row: '21d', what: 'a session', mode: 'sandbox', path: SESSIONS, body: () => SESSION_BODY, count: 250 },
];

/** CPU of a request, server and PostgreSQL together, by the node and by the server. */
interface Cost {
  node: number;
  postgres: number;
}

/** Row 21: what the request log costs, by two nodes of which one records, on one database, in turns. */
export async function runRequestLog(server: BenchServer, options: RunOptions): Promise<Findings> {
  const findings: Findings = { results: [], remarks: [] };
  for (const call of CALLS.filter(({ row }) => options.wanted.has(row))) {
    const measured = await measure(server, call, options);
    findings.results.push(...measured.results);
    findings.remarks.push(...measured.remarks);
  }
  return findings;
}

type Log = 'on' | 'off';
type PerLog<T> = Record<Log, T>;

async function measure(server: BenchServer, call: Call, options: RunOptions): Promise<Findings> {
  const premises = await furnish(await server.createDatabase(), call.mode);
  const costs: PerLog<Cost[]> = { on: [], off: [] };
  const rounds: PerLog<number[]> = { on: [], off: [] };
  /** Of each pair of nodes. */
  const means: number[] = [];
  const [few, many] = options.quick ? [2, 2] : [NODES_MIN, NODES_MAX];
  while (means.length < many && (means.length < few || !isSureOf(means))) {
    const nodes = await startNodes(premises, options);
    try {
      const { on = [], off = [] } = await compare(server, premises, { call, nodes, costs, options });
      rounds.on.push(...on);
      rounds.off.push(...off);
      means.push(meanOfRatios(ratios(on, off)).mean);
    } finally {
      await Promise.all(Object.values(nodes).map((node) => node.stop()));
    }
  }
  const { on, off } = rounds;
  const { mean, low, high } = meanOfRatios(means);
  const of = (log: Log, pick: (cost: Cost) => number) => short(meanOf(costs[log].map(pick)));
  const remark =
    `Request log, ${call.what}: ${of('on', (c) => c.node)} us CPU of Node and ${of('on', (c) => c.postgres)} us of PostgreSQL ` +
    `a request with it, ${of('off', (c) => c.node)} and ${of('off', (c) => c.postgres)} without.`;
  const raw = { 'us with it': on, 'us without': off };
  const note = `95 % interval ${low.toFixed(3)}-${high.toFixed(3)}, ${means.length} pairs of nodes, ${on.length} rounds`;
  return { results: [{ row: call.row, values: [mean], note, raw }], remarks: [remark] };
}

async function startNodes(premises: Premises, options: RunOptions): Promise<PerLog<Service>> {
  const start = (log: Log) => startService({ env: { ...premises.env, FLORIN_REQUEST_LOG: log } }, options);
  return { on: await start('on'), off: await start('off') };
}

/** Rounds of two nodes in turns; what each costs is put to `costs`. */
async function compare(
  server: BenchServer,
  premises: Premises,
  {
    call,
    nodes,
    costs,
    options,
  }: { call: Call; nodes: PerLog<Service>; costs: PerLog<Cost[]>; options: RunOptions },
): Promise<Record<string, number[]>> {
  let loads = 0;
  const loadNode = async (log: Log): Promise<Cost> => {
    if (loads++ % (2 * EMPTIED_AFTER) === 0)
      await execute(premises.databaseUrl, `truncate ${TABLES}`, 'checkpoint');
    const logged = await countLogged(premises);
    const { pid, baseUrl } = nodes[log];
    const requests = buildRequests(premises, call.count, call.body, call.path);
    const before = { node: cpuSeconds(pid), postgres: serverCpuSeconds(server.pid) };
    await load(baseUrl, requests, CONNECTIONS);
    await sleep(SETTLE_MS);
    const cost = {
      node: ((cpuSeconds(pid) - before.node) * 1e6) / call.count,
      postgres: ((serverCpuSeconds(server.pid) - before.postgres) * 1e6) / call.count,
    };
    // A cheap round counts only if its requests are in the log.
    const added = (await countLogged(premises)) - logged;
    if (added !== (log === 'on' ? call.count : 0))
      throw new Error(`${added} of ${call.count} requests are in the log (${log})`);
    return cost;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++)
    for (const log of ['on', 'off'] as const) await loadNode(log);
  const run = async (log: Log) => {
    const cost = await loadNode(log);
    costs[log].push(cost);
    return cost.node + cost.postgres;
  };
  return await interleave(
    (['on', 'off'] as const).map((name) => ({ name, run: () => run(name) })),
    { log: options.log, rounds: ROUNDS_OF_NODES },
  );
}

function isSureOf(means: readonly number[]): boolean {
  const { low, high } = meanOfRatios(means);
  return high - low < INTERVAL_MAX;
}

async function countLogged({ databaseUrl }: Premises): Promise<number> {
  const [found] = await execute(databaseUrl, 'select count(*)::int as n from request_log');
  return found?.rows[0]?.n ?? 0;
}
