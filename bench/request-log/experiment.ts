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
import { median, ratios, short } from '../statistics.ts';

const CONNECTIONS = 20;
/** The log is written up to 100 ms behind the last answer. */
const SETTLE_MS = 500;
const TABLES = 'payout_batch, payout_item, checkout_session, payment, event, job, nonce, request_log';

interface Call {
  row: RowId;
  what: string;
  mode: 'live' | 'sandbox';
  path: string;
  body: () => Buffer;
  /** Requests of a round: a few seconds. */
  count: number;
}

const writeBody = bodyWriter('erc20');
const CALLS: readonly Call[] = [
  { row: '21a', what: '200 items', mode: 'live', path: BATCHES, body: () => writeBody(200), count: 400 },
  { row: '21b', what: '10 items', mode: 'live', path: BATCHES, body: () => writeBody(10), count: 1_500 },
  { row: '21c', what: '1 item', mode: 'live', path: BATCHES, body: () => writeBody(1), count: 2_000 },
  { row: '21d', what: 'a session', mode: 'sandbox', path: SESSIONS, body: () => SESSION_BODY, count: 2_000 },
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
    const premises = await furnish(await server.createDatabase(), call.mode);
    const nodes = await startNodes(premises, options);
    try {
      const measured = await measure(server, premises, { call, nodes, options });
      findings.results.push(...measured.results);
      findings.remarks.push(...measured.remarks);
    } finally {
      await Promise.all(Object.values(nodes).map((node) => node.stop()));
    }
  }
  return findings;
}

type Nodes = Record<'on' | 'off', Service>;

async function startNodes(premises: Premises, options: RunOptions): Promise<Nodes> {
  const start = (log: 'on' | 'off') =>
    startService({ env: { ...premises.env, FLORIN_REQUEST_LOG: log } }, options);
  return { on: await start('on'), off: await start('off') };
}

async function measure(
  server: BenchServer,
  premises: Premises,
  { call, nodes, options }: { call: Call; nodes: Nodes; options: RunOptions },
): Promise<Findings> {
  const costs: Record<'on' | 'off', Cost[]> = { on: [], off: [] };
  const count = options.quick ? Math.round(call.count / 4) : call.count;
  const run = async (log: 'on' | 'off'): Promise<number> => {
    await execute(premises.databaseUrl, `truncate ${TABLES}`, 'checkpoint');
    const node = nodes[log];
    // An idle connection of the log is closed: the next one is a busy service's.
    const first = buildRequests(premises, Math.round(count / 10), call.body, call.path);
    await load(node.baseUrl, first, CONNECTIONS);
    await sleep(SETTLE_MS);
    const requests = buildRequests(premises, count, call.body, call.path);
    const before = { node: cpuSeconds(node.pid), postgres: serverCpuSeconds(server.pid) };
    await load(node.baseUrl, requests, CONNECTIONS);
    await sleep(SETTLE_MS);
    const cost = {
      node: ((cpuSeconds(node.pid) - before.node) * 1e6) / count,
      postgres: ((serverCpuSeconds(server.pid) - before.postgres) * 1e6) / count,
    };
    await assertLogged(premises, log === 'on' ? count + first.length : 0);
    costs[log].push(cost);
    return cost.node + cost.postgres;
  };
  for (const log of ['on', 'off', 'on', 'off'] as const) await run(log);
  costs.on.length = 0;
  costs.off.length = 0;
  const { on = [], off = [] } = await interleave(
    (['on', 'off'] as const).map((name) => ({ name, run: () => run(name) })),
    options,
  );
  const of = (log: 'on' | 'off', pick: (cost: Cost) => number) => short(median(costs[log].map(pick)));
  const remark =
    `Request log, ${call.what}: ${of('on', (c) => c.node)} us CPU of Node and ${of('on', (c) => c.postgres)} us of PostgreSQL ` +
    `a request with it, ${of('off', (c) => c.node)} and ${of('off', (c) => c.postgres)} without; middle of ${on.length} rounds.`;
  const raw = { 'us with it': on, 'us without': off };
  return { results: [{ row: call.row, values: ratios(on, off), raw }], remarks: [remark] };
}

/** A cheap round counts only if its requests are in the log. */
async function assertLogged({ databaseUrl }: Premises, count: number): Promise<void> {
  const [found] = await execute(databaseUrl, 'select count(*)::int as n from request_log');
  if (found?.rows[0]?.n !== count)
    throw new Error(`${found?.rows[0]?.n} of ${count} requests are in the log`);
}
