import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Florin } from '@florin/sdk';
import { cpuSeconds, residentMegabytes } from '../procfs.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { type SandboxPlace, withSandboxPlace } from '../start/premises.ts';
import { median, short } from '../statistics.ts';

const PAGES = 1_000;
const AT_ONCE = 10;

/** Row 14: what the whole sandbox process takes on for a thousand payers who look at their pages. */
export async function runPage(_server: unknown, options: RunOptions): Promise<Findings> {
  return await withSandboxPlace(options, (place) => measure(place, options));
}

async function measure(place: SandboxPlace, { rounds, quick, log }: RunOptions): Promise<Findings> {
  const megabytes: number[] = [];
  const processors: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const sandbox = await place.start({ FLORIN_RATE_PER_SECOND: '10000', FLORIN_RATE_BURST: '10000' });
    const urls = await openSessions(await place.client());
    const before = residentMegabytes(sandbox.pid);
    const streams = await openStreams(urls);
    const seconds = quick ? 5 : 15;
    const cpuBefore = cpuSeconds(sandbox.pid);
    await sleep(seconds * 1_000);
    processors.push((cpuSeconds(sandbox.pid) - cpuBefore) / seconds);
    megabytes.push(residentMegabytes(sandbox.pid) - before);
    for (const stream of streams) stream.destroy();
    await sandbox.stop();
    log(`  round ${round + 1}/${rounds}: ${short(megabytes.at(-1) ?? 0)} MB more`);
  }
  const remark =
    `With ${PAGES.toLocaleString('en-US')} pages open and nothing happening, the sandbox's process (API, page, ` +
    `workers, scans) took ${short(median(processors) * 1_000)} ms of processor time a second.`;
  return { results: [{ row: '14', values: megabytes }], remarks: [remark] };
}

/** Sessions of which each has an address and a quote. @returns their pages */
async function openSessions(florin: Florin): Promise<string[]> {
  const urls: string[] = [];
  const makeSome = async () => {
    for (let i = 0; i < PAGES / AT_ONCE; i++) {
      const { url } = await florin.checkout.sessions.create({ amount: 1_999n, currency: 'USD' });
      await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ option: 'USDT:trc20' }),
      });
      urls.push(url);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return urls;
}

/** A stream of each page, open once its first news has come. */
async function openStreams(urls: readonly string[]): Promise<http.ClientRequest[]> {
  return await Promise.all(
    urls.map(async (url) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const request = http.get(`${url}/events?lang=en`, { agent: false }, (answer) => {
        answer.on('data', (piece: Buffer) => {
          if (piece.includes('event: page')) resolve();
        });
        answer.on('error', () => {});
      });
      request.on('error', reject);
      await promise;
      return request;
    }),
  );
}
