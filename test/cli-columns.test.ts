import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Florin } from '@florin/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram } from '../packages/cli/src/program.ts';
import { type Finished, florin, type Sandbox, startSandbox } from './florin-command.ts';

const COLUMNS = 80;
const LONG_MS = 180_000;
// The command brings its own PostgreSQL 18, so that a second run would be the same once more.
const isSecondRun = process.env.FLORIN_TEST_POSTGRES === '15';
if (isSecondRun) console.warn('skipped: florin start runs its own PostgreSQL 18');

/** Every command that lists something without being told what of. */
const LISTS = createProgram({ json: false }).commands.flatMap((group) =>
  group.commands
    .filter((one) => one.name() === 'list' && one.registeredArguments.length === 0)
    .map((one) => `${group.name()} ${one.name()}`),
);

let dataDir = '';
let sandbox: Sandbox;
const command = (line: string): Promise<Finished> =>
  florin(line.split(' '), {
    env: { FLORIN_DATA_DIR: dataDir, NODE_COMPILE_CACHE: path.join(dataDir, 'compiled') },
  });

/** At least one of what the lists show, with long names. */
async function fill(): Promise<void> {
  const { base_url, api_key, secret_key } = JSON.parse(
    readFileSync(path.join(dataDir, 'sandbox.json'), 'utf8'),
  ) as Record<'base_url' | 'api_key' | 'secret_key', string>;
  const sdk = new Florin({ baseUrl: base_url, apiKey: api_key, secretKey: secret_key });
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const name = 'A company with a rather long name, its owner, and a few more words';
  await sdk.payouts.create({ currency: 'USDT', items: [{ network: 'erc20', address, amount: '12.34' }] });
  const session = await sdk.checkout.sessions.create({ amount: 123_456n, currency: 'USD' });
  await sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  await sdk.customers.create({
    external_customer_id: 'customer-1',
    name,
    email: 'somebody@department.example.com',
  });
  await sdk.webhookEndpoints.create({
    url: 'https://shop.example.com/webhooks/receive/florin',
  });
}

beforeAll(async () => {
  if (isSecondRun) return;
  dataDir = mkdtempSync(path.join(tmpdir(), 'florin-columns-'));
  // As root PostgreSQL runs under another account, which has to get in.
  chmodSync(dataDir, 0o755);
  sandbox = await startSandbox(dataDir);
  await fill();
}, LONG_MS);

afterAll(async () => {
  if (isSecondRun) return;
  if (sandbox?.process.exitCode === null) await sandbox.stop('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
}, LONG_MS);

test.skipIf(isSecondRun)(
  'every list fits a terminal, has titles, and is JSON with --json',
  {
    timeout: LONG_MS,
  },
  async () => {
    expect(LISTS.length).toBeGreaterThan(15);
    let filled = 0;
    for (const line of LISTS) {
      const { code, stdout, stderr } = await command(line);
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
      const wide = stdout.split('\n').filter((one) => [...one].length > COLUMNS);
      expect(wide, line).toEqual([]);
      if (stdout.trim() === '(none)') continue;
      filled += 1;
      expect(stdout, line).toMatch(/^[A-Z][A-Z ]+\n/);
      expect(JSON.parse((await command(`${line} --json`)).stdout), line).toBeTruthy();
    }
    expect(filled).toBeGreaterThan(7);
  },
);
