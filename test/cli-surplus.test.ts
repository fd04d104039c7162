import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { florin, type Sandbox, startSandbox } from './florin-command.ts';

// The command brings its own PostgreSQL 18, so that a second run would be the same once more.
const isSecondRun = process.env.FLORIN_TEST_POSTGRES === '15';
if (isSecondRun) console.warn('skipped: florin start runs its own PostgreSQL 18');

const LONG_MS = 120_000;

let dataDir = '';
let sandbox: Sandbox;

beforeAll(async () => {
  if (isSecondRun) return;
  dataDir = mkdtempSync(path.join(tmpdir(), 'florin-surplus-'));
  // As root PostgreSQL runs under another account, which has to get in.
  chmodSync(dataDir, 0o755);
  sandbox = await startSandbox(dataDir);
}, LONG_MS);

afterAll(async () => {
  if (isSecondRun) return;
  await sandbox.stop('SIGTERM');
  rmSync(dataDir, { recursive: true });
});

const read = (file: string) => JSON.parse(readFileSync(path.join(dataDir, file), 'utf8'));

const command = (words: readonly string[], env: Record<string, string> = {}) =>
  florin(words, { env: { FLORIN_DATA_DIR: dataDir, ...env } });

/** Coins come into the sandbox's wallet on trc20, the one account there that holds so much. */
async function dust(units: number): Promise<void> {
  const database = new pg.Client({ connectionString: read('running.json').database_url });
  await database.connect();
  const { rowCount } = await database.query(
    `update simchain.account set balance = balance + $1
     where (merchant_id, network, currency, balance) = (select merchant_id, network, currency, max(balance)
       from simchain.account where network = 'trc20' and currency = 'USDC' group by 1, 2, 3 limit 1)`,
    [units],
  );
  await database.end();
  expect(rowCount).toBe(1);
}

test.skipIf(isSecondRun)(
  'coins of a stranger are named apart, with exit code 0, and booked by two people',
  async () => {
    const of = ['--merchant', read('sandbox.json').merchant_id];
    await dust(2_500_000);
    const text = await command(['ledger', 'verify']);
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/USDC.* 2\.500000/) });
    expect(text.stdout).toContain('nothing is missing, and one wallet holds more than the books know');
    const book = ['networks', 'book-surplus', 'trc20', 'USDC', '2.50', '--reference', 'dust', ...of];
    for (const [name, done] of [
      ['Grace', false],
      ['Linus', true],
    ] as const) {
      const added = await command(['approvers', 'add', name, ...of, '--json']);
      const env = { FLORIN_APPROVER_TOKEN: JSON.parse(added.stdout).token };
      const said = await command([...book, '--as', name, '--json'], env);
      expect(JSON.parse(said.stdout)).toMatchObject({ done, amount: '2.50', network: 'trc20' });
    }
    const after = await command(['ledger', 'verify', '--json']);
    expect([after.code, JSON.parse(after.stdout)]).toMatchObject([0, { differences: [], surpluses: [] }]);
  },
  LONG_MS,
);
