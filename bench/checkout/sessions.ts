import { startChild } from '../child.ts';
import { load } from '../create/load.ts';
import { furnish } from '../create/merchant.ts';
import { pgbenchVersion, runPgbench } from '../create/pgbench.ts';
import { recordCreate } from '../create/recording.ts';
import { buildRequests } from '../create/requests.ts';
import { scriptOf } from '../create/script.ts';
import { type BenchServer, execute, reset } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { percentile, ratios, short } from '../statistics.ts';

export const SESSIONS = '/api/v1/checkout/sessions/create';
export const SESSION_BODY = Buffer.from(
  JSON.stringify({ amount: 12_500_000, currency: 'USDT', order_id: 'A-1', metadata: { cart: 'A-1' } }),
);
const CONNECTIONS = 20;
const PGBENCH_CLIENTS = 10;
const FIRST_GUESS = 600;

/** The whole way of a session's creation, with an Idempotency-Key, against its SQL alone. */
export async function measureSessions(server: BenchServer, options: RunOptions): Promise<Findings> {
  const premises = await furnish(await server.createDatabase(), 'sandbox');
  const script = scriptOf(await recordCreate(premises, SESSION_BODY, SESSIONS));
  const service = await startService(premises, options);
  const seconds = options.quick ? 2 : 5;
  const latenciesMs: number[] = [];
  let expected = FIRST_GUESS;
  const run = async () => {
    await reset(premises.databaseUrl, script.tables);
    const count = Math.max(100, Math.round(expected * seconds));
    const requests = buildRequests(premises, count, () => SESSION_BODY, SESSIONS);
    const loaded = await load(service.baseUrl, requests, CONNECTIONS);
    expected = loaded.perSecond;
    latenciesMs.push(...loaded.latenciesMs);
    const [found] = await execute(premises.databaseUrl, 'select count(*)::int as n from checkout_session');
    if (found?.rows[0]?.n !== count) throw new Error(`${count} sessions were answered, not all are stored`);
    return loaded.perSecond;
  };
  const limit = async () => {
    await reset(premises.databaseUrl, script.tables);
    const timing = { clients: PGBENCH_CLIENTS, seconds };
    if (pgbenchVersion() !== undefined) return await runPgbench(premises.databaseUrl, script, timing);
    const argument = { url: premises.databaseUrl, script, ...timing };
    return (await startChild('create/by-driver.ts', { argument }).next<{ perSecond: number }>()).perSecond;
  };
  try {
    await run();
    await run();
    latenciesMs.length = 0;
    const values = await interleave(
      [
        { name: 'sessions', run },
        { name: 'limit', run: limit },
      ],
      options,
    );
    const [ours = [], theirs = []] = [values.sessions, values.limit];
    const note =
      pgbenchVersion() === undefined ? { note: 'without pgbench: the same SQL by the pg driver' } : {};
    const raw = { 'sessions/s': ours, 'limit requests/s': theirs };
    return {
      results: [{ row: '13a', values: ratios(ours, theirs), raw, ...note }],
      remarks: [
        `Create a session: ${script.statements.length} statements, p50 ${short(percentile(latenciesMs, 0.5))} ms, ` +
          `p99 ${short(percentile(latenciesMs, 0.99))} ms with ${CONNECTIONS} connections.`,
      ],
    };
  } finally {
    await service.stop();
  }
}
