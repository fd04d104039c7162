import type { Child } from '../child.ts';
import { type BenchServer, execute } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowResult, RunOptions } from '../rows.ts';
import { median, ratios, short } from '../statistics.ts';
import { runIdle } from './idle.ts';
import { furnish, type Premises } from './premises.ts';
import { measureBare, measureSender, type Rate, startBare } from './rates.ts';

/** Every tenth one: 90 and 10 of a hundred. */
const HANGING = `url like '%/hang'`;
const HEALTHY = `url not like '%/hang'`;

/** Rows 9 and 11: deliveries of events that are recorded one by one, against the same client without a database. */
export async function runWebhooks(server: BenchServer, options: RunOptions): Promise<Findings> {
  const { wanted } = options;
  const all: Findings = { results: [], remarks: [] };
  const add = ({ results, remarks }: Findings) => {
    all.results.push(...results);
    all.remarks.push(...remarks);
  };
  if (wanted.has('9a')) add(await compareWithBare(server, options, 100));
  if (wanted.has('9b')) add(await compareWithBare(server, options, 1_000));
  if (wanted.has('9c')) add(await besideHanging(server, options));
  if (wanted.has('11')) add(await runIdle(server, options));
  return all;
}

async function compareWithBare(
  server: BenchServer,
  options: RunOptions,
  origins: 100 | 1_000,
): Promise<Findings> {
  const premises = await furnish(server, origins, options);
  const bare = startBare(premises, options);
  await bare.next();
  const sender = await premises.startSender();
  const deliveries = options.quick ? 10_000 : 50_000;
  const cpu: Record<string, number[]> = { florin: [], bare: [] };
  const note = (name: string, { perSecond, cpuMicros }: Rate) => {
    cpu[name]?.push(cpuMicros);
    return perSecond;
  };
  try {
    await measureBare(premises, bare, deliveries);
    await measureSender(premises, sender, { deliveries });
    const settings = [
      {
        name: 'florin',
        run: async () => note('florin', await measureSender(premises, sender, { deliveries })),
      },
      { name: 'bare', run: async () => note('bare', await measureBare(premises, bare, deliveries)) },
    ];
    const { florin = [], bare: theirs = [] } = await interleave(settings, options);
    const result: RowResult = {
      row: origins === 100 ? '9a' : '9b',
      values: ratios(florin, theirs),
      raw: { 'florin webhooks/s': florin, 'bare posts/s': theirs },
    };
    const micros = (name: string) => short(median(cpu[name] ?? []));
    const remark =
      `Webhooks to ${origins.toLocaleString('en-US')} origins: ${short(median(florin))}/s, bare ${short(median(theirs))}/s; ` +
      `the sending process took ${micros('florin')} us of CPU for each, bare ${micros('bare')} us.`;
    return { results: [result], remarks: [remark] };
  } finally {
    await Promise.all([bare.stop(), sender.stop()]);
    await premises.close();
  }
}

/** A worker of each round's own, as attempts that hang outlast a round. */
async function besideHanging(server: BenchServer, options: RunOptions): Promise<Findings> {
  const premises = await furnish(server, 100, options);
  await execute(
    premises.url,
    `update webhook_endpoint set url = replace(url, '/hook', '/hang')
     where endpoint_id in (select endpoint_id from webhook_endpoint order by endpoint_id limit 10)`,
  );
  try {
    const settings = [
      { name: 'alone', run: () => healthyRate(premises, options, false) },
      { name: 'beside', run: () => healthyRate(premises, options, true) },
    ];
    const { alone = [], beside = [] } = await interleave(settings, options);
    const raw = { 'alone webhooks/s': alone, 'beside hanging ones webhooks/s': beside };
    return { results: [{ row: '9c', values: ratios(beside, alone), raw }], remarks: [] };
  } finally {
    await premises.close();
  }
}

async function healthyRate(premises: Premises, { quick }: RunOptions, withHanging: boolean): Promise<number> {
  await execute(
    premises.url,
    'truncate job',
    'update webhook_endpoint set failures = 0, failing_since_ms = null',
  );
  const sender: Child = await premises.startSender();
  try {
    const deliveries = quick ? 10_000 : 30_000;
    await measureSender(premises, sender, { deliveries, where: HEALTHY });
    const load = { deliveries, where: HEALTHY, ...(withHanging && { hanging: HANGING }) };
    return (await measureSender(premises, sender, load)).perSecond;
  } finally {
    sender.kill('SIGKILL');
  }
}
