import { type BenchServer, execute } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, ratios, short } from '../statistics.ts';
import { openTills, Till } from './till.ts';

const OPEN_ADDRESSES = 10_000;
const FEW_ADDRESSES = 10;
const PAID = 500;
const LOOKS = 50;

/** Rows 13b and 13c: what there is beside must not slow down what happens. */
export async function measureDeposits(server: BenchServer, options: RunOptions): Promise<Findings> {
  const { app } = await openTills(await server.createDatabase());
  const paid = options.quick ? PAID / 5 : PAID;
  try {
    const [many, few] = [await Till.open(app), await Till.open(app)];
    await many.openPayments(OPEN_ADDRESSES);
    await few.openPayments(FEW_ADDRESSES);
    const credit = async (till: Till) => {
      const addresses = await till.openPayments(paid);
      await till.look();
      await till.pay(addresses);
      const seenMs = await till.look();
      await till.becomeFinal();
      return (paid * 1000) / (seenMs + (await till.look()));
    };
    const idle = async (till: Till) => {
      await till.look();
      const times: number[] = [];
      for (let i = 0; i < LOOKS; i++) times.push(await till.look());
      return median(times);
    };
    for (const till of [many, few]) await credit(till);
    const settings = [
      { name: 'credited/s, many', run: () => credit(many) },
      { name: 'credited/s, few', run: () => credit(few) },
      { name: 'look ms, many', run: () => idle(many) },
      { name: 'look ms, few', run: () => idle(few) },
    ];
    const values = await interleave(settings, options);
    const of = (name: string) => values[name] ?? [];
    await assertCredited(app.databaseUrl, 2 * (options.rounds + 1) * paid);
    const credited = of('credited/s, many');
    const looks = of('look ms, many');
    return {
      results: [
        {
          row: '13b',
          values: ratios(credited, of('credited/s, few')),
          raw: { 'deposits credited/s': credited },
        },
        { row: '13c', values: ratios(looks, of('look ms, few')), raw: { 'milliseconds a look': looks } },
      ],
      remarks: [
        `Deposits: ${short(median(credited))}/s are seen and, once final, credited by one worker beside ` +
          `${OPEN_ADDRESSES.toLocaleString('en-US')} open addresses of the same merchant, ${paid} in a block; the ` +
          `simulated chain in the same database is a part of that. A scan that finds nothing takes ` +
          `${short(median(looks))} ms.`,
      ],
    };
  } finally {
    await app.close();
  }
}

/** Fast counts only if the money is there, each once. */
async function assertCredited(databaseUrl: string, least: number): Promise<void> {
  const [found] = await execute(
    databaseUrl,
    `select count(*)::int as payments, count(*) filter (where amount = received_amount)::int as exact
     from payment where status = 'completed'`,
  );
  const { payments, exact } = found?.rows[0] ?? {};
  if (payments < least || exact !== payments)
    throw new Error(`${payments} of at least ${least} payments are completed, ${exact} of them exactly`);
}
