import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openProxy } from '../../../../../test/jobs/cuttable-proxy.ts';
import { gate, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { connect } from '../db/db.ts';
import { Outage } from './outage.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

interface Line {
  level: string;
  msg: string;
}

/** A real logger whose lines are kept. */
function listen() {
  const lines: Line[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const write = (text: string) => void lines.push(JSON.parse(text));
  return { log: pino({ base: null, formatters }, { write }), lines };
}

test('an outage is logged once when it begins and once when it ends, however many parts notice', () => {
  const { log, lines } = listen();
  const outage = new Outage(log);
  outage.worked('claims');
  for (let n = 0; n < 5; n++) outage.failed('session', new Error('away'));
  outage.failed('claims', new Error('away'));
  outage.worked('session');
  outage.worked('session');
  expect(lines.map((line) => line.level)).toEqual(['error']);
  outage.worked('claims');
  outage.failed('leases', new Error('away again'));
  expect(lines.map((line) => line.level)).toEqual(['error', 'info', 'error']);
});

test('a worker outlives a database that is away: outcomes are recorded, waiting jobs run, each outage is logged once', async () => {
  const proxy = await openProxy(bench.url);
  const db = connect({ url: proxy.url, poolSize: 4 });
  const { log, lines } = listen();
  const mayEnd = gate();
  const ran: string[] = [];
  const worker = bench.start(
    {
      before: async () => {
        await mayEnd.opened;
        ran.push('before');
        return 'done';
      },
      during: async (_job, run) => {
        await run.finish((tx) => sql`insert into effect (worker) values ('during')`.execute(tx));
        ran.push('during');
        return 'done';
      },
    },
    { db, url: proxy.url, log, pollEveryMs: 100, renewEveryMs: 200 },
  );
  await bench.add({ kind: 'before' });
  await expect.poll(async () => (await bench.rows())[0]?.lease_owner).toBeTypeOf('number');
  proxy.cut();
  await bench.add({ kind: 'during' });
  // The run ends while its outcome cannot be written.
  mayEnd.open();
  await expect.poll(() => lines.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await bench.rows()).toMatchObject([{ kind: 'before' }, { kind: 'during', fence: 0n }]);
  proxy.mend();
  await expect.poll(() => bench.rows()).toEqual([]);
  await expect.poll(() => ran).toEqual(['before', 'during']);
  await expect.poll(() => lines.length).toBe(2);
  await worker.idle();
  expect(lines.map((line) => line.level)).toEqual(['error', 'info']);
  await worker.stop(1_000);
  await db.destroy();
  await proxy.close();
});
