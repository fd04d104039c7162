import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFlorin, makeSdk } from '../../scripts/packages.ts';
import { installed, isRegistryReachable, output, pack, packagesIn } from './installed.ts';

/** A shop's program: a payout and a payment from beginning to end, with what `florin start` has written down. */
const SHOP = `
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Florin } from '@florin/sdk';

const { base_url: baseUrl, api_key: apiKey, secret_key: secretKey } = JSON.parse(
  readFileSync('.florin/sandbox.json', 'utf8'),
);
const florin = new Florin({ baseUrl, apiKey, secretKey });
async function until(status, read) {
  for (let i = 0; i < 300; i++) {
    const one = await read();
    if (one.status === status) return one;
    await sleep(200);
  }
  throw new Error('it did not come to ' + status);
}

const { spl } = await florin.testHelpers.addresses();
const batch = await florin.payouts.create({
  currency: 'USDC',
  items: [{ network: 'spl', address: spl.succeed, amount: '25.00' }],
});
await florin.payouts.submit(batch.batch_id);
const paid = await until('completed', () => florin.payouts.retrieve(batch.batch_id));
const session = await florin.checkout.sessions.create({ amount: 1999n, currency: 'USD' });
await florin.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
await until('completed', () => florin.checkout.sessions.retrieve(session.id));
console.log(JSON.stringify({ paid: paid.success_count, page: session.url, baseUrl }));
`;

/** Loaded before the program: writes at its end what of Node it used that takes megabytes. */
const WATCH = `
const { appendFileSync } = require('node:fs');
const intl = [];
for (const name of ['Collator', 'DateTimeFormat', 'DisplayNames', 'NumberFormat', 'PluralRules', 'Segmenter']) {
  Intl[name] = new Proxy(Intl[name], {
    construct: (...call) => (intl.push(name), Reflect.construct(...call)),
    apply: (...call) => (intl.push(name), Reflect.apply(...call)),
  });
}
process.on('exit', () => {
  const isLoaded = (name) => process.moduleLoadList.includes('NativeModule ' + name);
  const found = { server: isLoaded('_http_server'), secondClient: isLoaded('internal/deps/undici/undici'), intl };
  appendFileSync(process.env.WATCHED_FILE, JSON.stringify(found) + '\\n');
});
`;

const canInstall = await isRegistryReachable();

describe.skipIf(!canInstall)('the service as it is published', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-package-'));
  let files: string[];
  let shop: string;
  let running: ChildProcess | undefined;
  const florin = (...words: string[]) => output(shop, path.join(shop, 'node_modules/.bin/florin'), words);

  async function start(env: Record<string, string> = {}): Promise<void> {
    const child = spawn(path.join(shop, 'node_modules/.bin/florin'), ['start', '--port', '0'], {
      cwd: shop,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running = child;
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (printed.includes('Stop with')) break;
    }
    child.stdout.resume();
    expect(printed).toContain('Florin is running');
  }

  async function stop(): Promise<void> {
    const exited = running && once(running, 'exit');
    running?.kill('SIGTERM');
    await exited;
    running = undefined;
  }

  beforeAll(async () => {
    const service = await pack(await makeFlorin(folder), folder);
    files = service.files;
    shop = await installed(service.tarball, (await pack(await makeSdk(folder), folder)).tarball);
    writeFileSync(path.join(shop, 'shop.js'), SHOP);
  }, 240_000);
  afterAll(async () => {
    await stop();
    for (const one of [folder, shop]) if (one !== undefined) rmSync(one, { recursive: true, force: true });
  });

  test('holds no source, no test and nothing of this checkout', async () => {
    expect(files.filter((file) => /\.(ts|tsx|map)$|\.test\.[jt]s/.test(file))).toEqual([]);
    expect(new Set(files.map((file) => file.split('/')[0]))).toEqual(
      new Set([
        'LICENSE',
        'README.md',
        'bin',
        'console',
        'lib',
        'migrations',
        'package.json',
        'pages',
        'served',
        'site',
      ]),
    );
    const code = files.filter((file) => file.endsWith('.js'));
    const texts = code.map((file) => readFileSync(path.join(folder, 'florin', file), 'utf8'));
    expect(texts.filter((text) => text.includes(path.resolve('.')))).toEqual([]);
    expect((await packagesIn(shop)).filter((name) => name.startsWith('@florin/'))).toEqual(['@florin/sdk']);
  });

  test('starts in an empty folder, pays out, takes a payment, and its books agree; a second start keeps them', {
    timeout: 180_000,
  }, async () => {
    await start();
    const first = JSON.parse(await output(shop, process.execPath, ['shop.js']));
    expect(first).toMatchObject({ paid: 1 });
    for (const [url, text] of [
      [first.page, '19.99'],
      [`${first.baseUrl}/docs/reference.js`, 'scalar'],
      [`${first.baseUrl}/docs/setup.js`, 'createApiReference'],
      [`${first.baseUrl}/docs/examples.json`, 'createPayoutBatch'],
      [`${first.baseUrl}/docs/payouts`, 'Payout batches'],
      [`${first.baseUrl}/openapi.json`, '"openapi"'],
      [`${first.baseUrl}/console`, '/console/assets/'],
    ])
      expect(await (await fetch(url)).text()).toContain(text);
    expect(await florin('ledger', 'verify')).toContain('everything agrees');
    await stop();
    expect(existsSync(path.join(shop, '.florin/running.json'))).toBe(false);
    await start();
    expect(await florin('ledger', 'verify')).toContain('everything agrees');
    await stop();
  });

  test('a start loads neither a second HTTP client of Node nor its tables of languages: 9 MB together', {
    timeout: 120_000,
  }, async () => {
    const watch = path.join(shop, 'watch.cjs');
    const watched = path.join(shop, 'watched.jsonl');
    writeFileSync(watch, WATCH);
    await start({ NODE_OPTIONS: `--require=${watch}`, WATCHED_FILE: watched });
    await stop();
    const processes = readFileSync(watched, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(processes.filter(({ server }) => server)).toEqual([
      { server: true, secondClient: false, intl: [] },
    ]);
  });

  test('the signer comes with it', async () => {
    expect(await florin('signer', '--help')).toContain('init');
    await expect(florin('signer', 'status')).rejects.toThrow('FLORIN_SIGNER');
  });
});
