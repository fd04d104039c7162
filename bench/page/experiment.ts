import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Florin } from '@florin/sdk';
import { startChild } from '../child.ts';
import { cpuSeconds, residentMegabytes } from '../procfs.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';

const PAGES = 1_000;
const AT_ONCE = 10;

interface Ready {
  databaseFolder?: string;
}

/** Row 14: what the whole sandbox process takes on for a thousand payers who look at their pages. */
export async function runPage(_server: unknown, options: RunOptions): Promise<Findings> {
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-bench-'));
  await chmod(folder, 0o755);
  const data = path.join(folder, 'data');
  const megabytes: number[] = [];
  const processors: number[] = [];
  let databaseFolder: string | undefined;
  try {
    for (let round = 0; round < options.rounds; round++) {
      const env = {
        FLORIN_DATA_DIR: data,
        FLORIN_PORT: '0',
        FLORIN_RATE_PER_SECOND: '10000',
        DATABASE_URL: '',
      };
      const child = startChild('start/sandbox.ts', {
        env: { ...env, FLORIN_RATE_BURST: '10000' },
        profileDir: options.profileDir,
      });
      databaseFolder = (await child.next<Ready>()).databaseFolder;
      const urls = await openSessions(data);
      const before = residentMegabytes(child.pid);
      const streams = await openStreams(urls);
      const seconds = options.quick ? 5 : 15;
      const cpuBefore = cpuSeconds(child.pid);
      await sleep(seconds * 1_000);
      processors.push((cpuSeconds(child.pid) - cpuBefore) / seconds);
      megabytes.push(residentMegabytes(child.pid) - before);
      for (const stream of streams) stream.destroy();
      await child.stop();
      options.log(`  round ${round + 1}/${options.rounds}: ${short(megabytes.at(-1) ?? 0)} MB more`);
    }
    if (databaseFolder !== undefined) await rm(databaseFolder, { recursive: true, force: true });
    const remark =
      `With ${PAGES.toLocaleString('en-US')} pages open and nothing happening, the sandbox's process (API, page, ` +
      `workers, scans) took ${short(median(processors) * 1_000)} ms of processor time a second.`;
    return { results: [{ row: '14', values: megabytes }], remarks: [remark] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sessions of which each has an address and a quote. @returns their pages */
async function openSessions(data: string): Promise<string[]> {
  const made: { base_url: string; api_key: string; secret_key: string } = JSON.parse(
    await readFile(path.join(data, 'sandbox.json'), 'utf8'),
  );
  const florin = new Florin({ baseUrl: made.base_url, apiKey: made.api_key, secretKey: made.secret_key });
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
