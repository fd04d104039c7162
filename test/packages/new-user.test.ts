import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeFlorin, makeSdk } from '../../scripts/packages.ts';
import { hasChromium, openBrowser } from '../browser/chromium.ts';
import { freePort } from '../free-port.ts';
import { installed, isRegistryReachable, output, pack } from './installed.ts';

/*
 * What a developer does on the first day, with nothing but the packages: by the README that comes with the SDK.
 */

const POLL = { timeout: 120_000, interval: 300 };
const LINES_MAX = 30;
const PEOPLE = 50;
const SUCCEED = 'TVXsiBDkXoBLtZg9g2UCUjeXa1Cn66LL5E';

const canRun = (await isRegistryReachable()) && hasChromium();

describe.skipIf(!canRun)('the first day with the packages, in an empty folder', () => {
  const packages = mkdtempSync(path.join(tmpdir(), 'florin-first-day-'));
  const running: ChildProcess[] = [];
  let folder: string;
  let log = '';
  let shopUrl = '';

  const program = (name: string) => path.join(folder, 'node_modules/.bin', name);
  const florin = (...words: string[]) => output(folder, program('florin'), words);
  const json = async (...words: string[]) => JSON.parse(await florin(...words, '--json'));

  function launch(command: string, words: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(command, words, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        log += chunk.toString();
      });
    running.push(child);
    return child;
  }

  const refused = async (...words: string[]): Promise<string> => {
    const child = spawn(program('florin'), words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect(code).not.toBe(0);
    return said;
  };

  beforeAll(async () => {
    const tarballs = [];
    for (const make of [makeFlorin, makeSdk]) tarballs.push(await pack(await make(packages), packages));
    folder = await installed(...tarballs.map(({ tarball }) => tarball));
    launch(program('florin'), ['start', '--port', '0']);
    const started = async () => log.includes('Florin is running');
    await vi.waitUntil(started, POLL);
  }, 300_000);
  afterAll(async () => {
    for (const child of running.toReversed()) {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    }
    for (const one of [packages, folder])
      if (one !== undefined) rmSync(one, { recursive: true, force: true });
  }, 120_000);

  test('the shop of the README has at most 30 lines, and runs as it says', { timeout: 180_000 }, async () => {
    const readme = readFileSync(path.join(folder, 'node_modules/@florin/sdk/README.md'), 'utf8');
    const [, shop = ''] = /```ts shop\.ts\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(shop.trim().split('\n').length).toBeLessThanOrEqual(LINES_MAX);
    writeFileSync(path.join(folder, 'shop.mjs'), shop);
    const port = String(await freePort());
    shopUrl = `http://127.0.0.1:${port}`;
    launch(process.execPath, ['--env-file=.florin/sandbox.env', 'shop.mjs'], { PORT: port });
    launch(program('florin'), ['listen', '--forward-to', `${shopUrl}/webhooks`]);
    await expect.poll(async () => (await fetch(shopUrl).catch(() => undefined))?.status, POLL).toBe(200);
    await expect.poll(() => log, POLL).toContain('Ready: events after');
  });

  let order = '';

  test('it is paid in a browser', { timeout: 180_000 }, async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(shopUrl);
      await page.getByRole('button', { name: 'Coffee' }).click();
      await page.waitForURL(/\/checkout\//);
      await page.getByRole('link', { name: 'USDT' }).click();
      await page.getByRole('button', { name: 'Tron' }).click();
      await page.getByRole('button', { name: 'Pay with the test wallet' }).click();
      await expect.poll(() => log, POLL).toMatch(/paid: order A-\d+/);
      order = /paid: order (A-\d+)/.exec(log)?.[1] ?? '';
    } finally {
      await browser.close();
    }
  });

  test('it is found by its order, in the CLI and by the API', { timeout: 60_000 }, async () => {
    expect(await json('payments', 'list', '--order-id', order)).toMatchObject([
      { order_id: order, status: 'completed', amount: 499 },
    ]);
    expect(await florin('payments', 'list', '--order-id', order)).toContain(order);
    const signed = await florin('sign', 'GET', `/api/v1/payments?order_id=${order}`);
    expect(JSON.parse(await output(folder, 'sh', ['-c', signed])).data).toHaveLength(1);
  });

  test('half is refunded, to the wallet that paid', { timeout: 60_000 }, async () => {
    const [payment] = await json('payments', 'list', '--order-id', order);
    const half = ['--id', 'half', '--amount', '2.49', '--currency', payment.pay_currency];
    const refund = await json('refunds', 'create', payment.id, ...half);
    expect(refund).toMatchObject({ refund_id: 'half', amount: 2_490_000, payment_id: payment.id });
    await expect.poll(async () => (await json('refunds', 'show', 'half')).status, POLL).toBe('succeeded');
  });

  test('the day is a CSV that a spreadsheet opens', { timeout: 60_000 }, async () => {
    const csv = await florin('payments', 'list', '--since', 'today', '--csv');
    const [heading = '', line = '', last] = csv.trim().split('\r\n');
    expect(heading.split(',')).toEqual(expect.arrayContaining(['id', 'order_id', 'created_utc']));
    expect(line).toContain(order);
    expect(last).toBe('# 1 rows');
  });

  test(`a CSV of ${PEOPLE} is paid out`, { timeout: 180_000 }, async () => {
    const rows = Array.from(
      { length: PEOPLE },
      (_, i) => `${SUCCEED},${i + 1}.00,trc20,USDT,Person ${i + 1}`,
    );
    writeFileSync(
      path.join(folder, 'people.csv'),
      ['address,amount,network,currency,real_name', ...rows].join('\n'),
    );
    const said = await florin('payouts', 'create', 'people.csv', '--submit', '--wait');
    expect(said).toMatch(/completed.* 50 +50 /);
    expect(await florin('ledger', 'verify')).toContain('everything agrees');
  });

  test('why a request was refused is read in the docs', { timeout: 60_000 }, async () => {
    const said = await refused('refunds', 'create', 'pay_nobody', '--json');
    const [link = ''] = /http[^"\s]+\/docs\/errors\/\w+/.exec(said) ?? [];
    const page = await (await fetch(link)).text();
    expect(page).toContain('<h1');
    expect(page).toContain('resource_not_found');
  });
});
