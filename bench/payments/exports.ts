import { setTimeout as sleep } from 'node:timers/promises';
import { furnish, type Premises } from '../create/merchant.ts';
import { signedHeaders } from '../create/requests.ts';
import type { BenchServer } from '../database.ts';
import { residentMegabytes } from '../procfs.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { median, short } from '../statistics.ts';
import { fillPayments } from './fill.ts';

/** As many as bring V8's heap to its usual size: what is read in a second says nothing of what many minutes take. */
const SMALL = 100_000;
const PATH = '/api/v1/payments';
const LOOK_MS = 100;

/** Row 17: a list as CSV, and that the memory of the node does not grow with it. */
export async function runExports(server: BenchServer, options: RunOptions): Promise<Findings> {
  const rows = options.quick ? 50_000 : 1_000_000;
  const make = async (payments: number) => {
    const premises = await furnish(await server.createDatabase());
    // Every second payment is of the store.
    await fillPayments(premises.databaseUrl, premises, payments * 2);
    return premises;
  };
  const small = await make(SMALL);
  options.log(`  filling ${(rows * 2).toLocaleString('en-US')} payments`);
  const big = await make(rows);
  const peaks = { small: [] as number[], big: [] as number[] };
  const setting = (name: 'small' | 'big', premises: Premises, count: number) => ({
    name,
    run: async () => {
      const { seconds, peak } = await exportOnce(premises, count, options);
      peaks[name].push(peak);
      return seconds;
    },
  });
  const took = await interleave([setting('small', small, SMALL), setting('big', big, rows)], options);
  const grown = peaks.big.map((peak, i) => Math.max(0, peak - (peaks.small[i] ?? 0)));
  const note = `${rows.toLocaleString('en-US')} payments`;
  return {
    results: [
      { row: '17a', values: took.big ?? [], note },
      { row: '17b', values: grown, note, raw: { 'small, MB': peaks.small, 'big, MB': peaks.big } },
    ],
    remarks: [
      `CSV of ${SMALL.toLocaleString('en-US')} payments: ${short(median(took.small ?? []))} s, ` +
        `${short(median(peaks.small))} MB at most; of ${rows.toLocaleString('en-US')}: ` +
        `${short(median(took.big ?? []))} s, ${short(median(peaks.big))} MB.`,
    ],
  };
}

/** Reads the whole list from a fresh node and throws it away. */
async function exportOnce(premises: Premises, rows: number, options: RunOptions) {
  const service = await startService(premises, options);
  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(service.pid));
  }, LOOK_MS);
  try {
    const startMs = performance.now();
    const { 'content-type': _, 'idempotency-key': __, ...signed } = signedHeaders(premises, Buffer.alloc(0));
    const response = await fetch(`${service.baseUrl}${PATH}`, {
      headers: { ...signed, accept: 'text/csv' },
    });
    let end = '';
    for await (const piece of response.body ?? [])
      end = (end + Buffer.from(piece).toString('latin1')).slice(-64);
    const seconds = (performance.now() - startMs) / 1000;
    if (!end.endsWith(`# ${rows} rows\r\n`)) throw new Error(`the file ends with ${JSON.stringify(end)}`);
    await sleep(LOOK_MS);
    return { seconds, peak };
  } finally {
    clearInterval(watching);
    await service.stop();
  }
}
