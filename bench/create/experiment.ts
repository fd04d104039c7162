import { startChild } from '../child.ts';
import { type BenchServer, execute, reset } from '../database.ts';
import { cpuSeconds, serverCpuSeconds } from '../procfs.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowId, RowResult, RunOptions } from '../rows.ts';
import { type Service, startService } from '../service.ts';
import { median, percentile, ratios, short } from '../statistics.ts';
import { load } from './load.ts';
import { furnish, type Premises } from './merchant.ts';
import { pgbenchVersion, runPgbench } from './pgbench.ts';
import { recordCreate } from './recording.ts';
import { bodyWriter, buildRequests } from './requests.ts';
import { type Script, scriptOf } from './script.ts';

const SIZES = [200, 10, 1] as const;
type Size = (typeof SIZES)[number];
const ROW_OF_SIZE = { 200: '1', 10: '2a', 1: '2b' } as const;
/** Requests in flight at the service; pgbench has as many clients as the service has connections. */
const CONNECTIONS = 20;
const PGBENCH_CLIENTS = 10;
/** First guess of requests a second, corrected by each round: a round sends a number of prebuilt requests. */
const FIRST_GUESS: Record<Size, number> = { 200: 100, 10: 400, 1: 600 };

/** Rows 1 to 3: the whole way of a create request against its SQL alone. */
export async function runCreate(server: BenchServer, options: RunOptions): Promise<Findings> {
  const premises = await furnish(await server.createDatabase());
  const scripts = await recordScripts(premises);
  const service = await startService(premises, options);
  try {
    const rounds = new CreateRounds({ server, premises, scripts, service, options });
    const sizes = SIZES.filter((size) => isWanted(size, options.wanted));
    await rounds.warmUp(sizes);
    const values = await interleave(
      sizes.flatMap((size) => rounds.settings(size)),
      options,
    );
    return { results: resultsOf(values, options.wanted), remarks: rounds.remarks(sizes) };
  } finally {
    await service.stop();
  }
}

function isWanted(size: Size, wanted: ReadonlySet<RowId>): boolean {
  return wanted.has(ROW_OF_SIZE[size]) || (size !== 10 && wanted.has('3'));
}

async function recordScripts(premises: Premises): Promise<Record<Size, Script>> {
  const scripts: Partial<Record<Size, Script>> = {};
  const write = bodyWriter('erc20');
  for (const size of SIZES) scripts[size] = scriptOf(await recordCreate(premises, write(size)));
  return scripts as Record<Size, Script>;
}

interface RoundsContext {
  server: BenchServer;
  premises: Premises;
  scripts: Record<Size, Script>;
  service: Service;
  options: RunOptions;
}

/** CPU microseconds of one request, and how long it took. */
interface Cost {
  nodeMicros: number;
  postgresMicros: number;
  p50Ms: number;
  p99Ms: number;
}

class CreateRounds {
  readonly #context: RoundsContext;
  readonly #seconds: number;
  readonly #writeBody = bodyWriter('erc20');
  readonly #expected = { ...FIRST_GUESS };
  readonly #costs = new Map<Size, Cost[]>();

  constructor(context: RoundsContext) {
    this.#context = context;
    this.#seconds = context.options.quick ? 2 : 5;
  }

  settings(size: Size) {
    return [
      { name: `service ${size}`, run: () => this.#service(size) },
      { name: `pgbench ${size}`, run: () => this.#limit(size) },
    ];
  }

  /** Until the engine has compiled what is hot. */
  async warmUp(sizes: readonly Size[]): Promise<void> {
    for (const size of sizes) for (let i = 0; i < 2; i++) await this.#service(size);
    this.#costs.clear();
  }

  async #service(size: Size): Promise<number> {
    const { premises, service, server, scripts } = this.#context;
    await reset(premises.databaseUrl, scripts[size].tables);
    const count = Math.max(100, Math.round(this.#expected[size] * this.#seconds));
    const requests = buildRequests(premises, count, () => this.#writeBody(size));
    const [node, postgres] = [cpuSeconds(service.pid), serverCpuSeconds(server.pid)];
    const { perSecond, latenciesMs } = await load(service.baseUrl, requests, CONNECTIONS);
    const cost = {
      nodeMicros: ((cpuSeconds(service.pid) - node) * 1e6) / count,
      postgresMicros: ((serverCpuSeconds(server.pid) - postgres) * 1e6) / count,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
    };
    this.#costs.set(size, [...(this.#costs.get(size) ?? []), cost]);
    this.#expected[size] = perSecond;
    await this.#assertWritten(count);
    return perSecond;
  }

  async #limit(size: Size): Promise<number> {
    const { premises, scripts } = this.#context;
    await reset(premises.databaseUrl, scripts[size].tables);
    const timing = { clients: PGBENCH_CLIENTS, seconds: this.#seconds };
    if (pgbenchVersion() !== undefined) return await runPgbench(premises.databaseUrl, scripts[size], timing);
    const argument = { url: premises.databaseUrl, script: scripts[size], ...timing };
    return (await startChild('create/by-driver.ts', { argument }).next<{ perSecond: number }>()).perSecond;
  }

  /** A fast answer counts only if the batch is there. */
  async #assertWritten(count: number): Promise<void> {
    const [found] = await execute(
      this.#context.premises.databaseUrl,
      'select count(*)::int as n from payout_batch',
    );
    if (found?.rows[0]?.n !== count)
      throw new Error(`${count} batches were answered, ${found?.rows[0]?.n} stored`);
  }

  remarks(sizes: readonly Size[]): string[] {
    return sizes.map((size) => {
      const of = (pick: (cost: Cost) => number) => short(median((this.#costs.get(size) ?? []).map(pick)));
      const statements = this.#context.scripts[size].statements.length;
      return (
        `Create, ${size} item${size === 1 ? '' : 's'}: ${statements} statements, ` +
        `${of((c) => c.nodeMicros)} us CPU of Node and ${of((c) => c.postgresMicros)} us of PostgreSQL a request, ` +
        `p50 ${of((c) => c.p50Ms)} ms, p99 ${of((c) => c.p99Ms)} ms with ${CONNECTIONS} connections.`
      );
    });
  }
}

function resultsOf(values: Record<string, number[]>, wanted: ReadonlySet<RowId>): RowResult[] {
  const limit = pgbenchVersion() === undefined ? 'without pgbench: the same SQL by the pg driver' : undefined;
  const note = limit === undefined ? {} : { note: limit };
  const results: RowResult[] = SIZES.filter((size) => wanted.has(ROW_OF_SIZE[size])).map((size) => {
    const service = values[`service ${size}`] ?? [];
    const pgbench = values[`pgbench ${size}`] ?? [];
    const raw = { 'service requests/s': service, 'limit requests/s': pgbench };
    return { row: ROW_OF_SIZE[size], values: ratios(service, pgbench), raw, ...note };
  });
  if (wanted.has('3')) {
    const items = (values['service 200'] ?? []).map((rate) => rate * 200);
    results.push({
      row: '3',
      values: ratios(items, values['service 1'] ?? []),
      raw: { 'items/s in batches': items },
    });
  }
  return results;
}
