import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Florin, type PayoutBatch } from '@florin/sdk';
import { CONFIG_OPTIONS } from '@florin/server/operator';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Finished, florin, isAlive, type Sandbox, startSandbox, until } from './florin-command.ts';
import { isSecondRun, makeDataDir } from './sandbox-of-commands.ts';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.warn('skipped: there is no curl on this machine');

const LONG_MS = 120_000;
const STOP_MAX_MS = 10_000;
const RECIPIENT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const batchOf = (amount: string) => ({
  currency: 'USDT' as const,
  items: [{ network: 'erc20' as const, address: RECIPIENT, amount }],
});

interface Credentials {
  base_url: string;
  merchant_id: string;
  store_id: string;
  api_key: string;
  secret_key: string;
}

let dataDir = '';
let sandbox: Sandbox;

const credentials = (): Credentials => JSON.parse(readFileSync(path.join(dataDir, 'sandbox.json'), 'utf8'));
const databaseUrl = (): string =>
  JSON.parse(readFileSync(path.join(dataDir, 'running.json'), 'utf8')).database_url;
const sdk = () => {
  const { base_url: baseUrl, api_key: apiKey, secret_key: secretKey } = credentials();
  return new Florin({ baseUrl, apiKey, secretKey });
};

/** The sandbox's folder, and a cache so that dozens of commands load the same code quickly. */
const folderEnv = () => ({ FLORIN_DATA_DIR: dataDir });

/** A command on the running sandbox. */
const command = (words: readonly string[], env: Record<string, string> = {}): Promise<Finished> =>
  florin(words, { env: { ...folderEnv(), ...env } });

/** What a command answers with --json. */
async function ask<T>(...words: string[]): Promise<T> {
  const { code, stdout, stderr } = await command([...words, '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

/** The error of a command that is refused. */
async function refusal(...words: string[]): Promise<{ code: string; message: string }> {
  const { code, stdout, stderr } = await command([...words, '--json']);
  expect(stdout).toBe('');
  expect(code).toBe(1);
  return JSON.parse(stderr).error;
}

beforeAll(async () => {
  if (isSecondRun) return;
  dataDir = makeDataDir();
  sandbox = await startSandbox(dataDir);
}, LONG_MS);

afterAll(async () => {
  if (isSecondRun) return;
  if (sandbox.process.exitCode === null) await sandbox.stop('SIGTERM');
  rmSync(dataDir, { recursive: true });
});

describe.skipIf(isSecondRun)('florin start', { timeout: LONG_MS }, () => {
  test('serves as soon as it says so', async () => {
    for (const page of ['/healthz', '/readyz', '/openapi.json']) {
      expect((await fetch(sandbox.baseUrl + page)).status, page).toBe(200);
    }
  });

  test('writes credentials of five fields that nobody else may read', async () => {
    const file = path.join(dataDir, 'sandbox.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(credentials())).toEqual([
      'base_url',
      'merchant_id',
      'store_id',
      'api_key',
      'secret_key',
    ]);
    expect(credentials().base_url).toBe(sandbox.baseUrl);
    expect((await sdk().balances.retrieve()).data.length).toBeGreaterThan(0);
  });

  test('prints one block with what a person needs, without the secret', () => {
    const { stdout, stderr } = sandbox.printed;
    expect(stderr).toBe('');
    expect(stdout).toContain(credentials().api_key);
    expect(stdout).toContain(path.join(dataDir, 'sandbox.json'));
    expect(stdout).toContain(`${sandbox.baseUrl}/docs/api`);
    expect(stdout).not.toContain(credentials().secret_key);
  });

  test.skipIf(!hasCurl)('prints a next step that works when it is copied', async () => {
    const line = sandbox.printed.stdout.split('\n').find((text) => text.includes(' sign POST ')) ?? '';
    const { stdout } = await run('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'draft', total_amount: '12.50', can_submit: true });
  });

  test('refuses a second start on the same folder in one line', async () => {
    const { code, stdout, stderr } = await florin(['start', '--port', '0', '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^florin: .*in use by another running process\n$/);
  });
});

describe.skipIf(isSecondRun)('operator commands', { timeout: LONG_MS }, () => {
  test('a store gets keys only once it is reviewed and enabled', async () => {
    const merchant = await ask<{ merchant_id: string }>('merchants', 'create', 'Flower shop');
    expect(await ask<object[]>('merchants', 'list')).toHaveLength(2);
    const of = ['--merchant', merchant.merchant_id];
    const store = await ask<{ store_id: string }>('stores', 'create', 'Corner', ...of);
    expect(store).toMatchObject({ review_status: 'pending', enabled: false, channel_type: 'api' });
    const create = ['keys', 'create', store.store_id, '--name', 'Till', '--scopes', 'read'];

    expect((await refusal(...create)).message).toContain('not reviewed');
    await ask('stores', 'review', store.store_id, '--approve');
    expect((await refusal(...create)).message).toContain('not enabled');
    await ask('stores', 'enable', store.store_id);
    const key = await ask<{ key_id: string; api_key: string; secret_key: string }>(...create);

    const client = (secretKey: string) => new Florin({ ...at(sandbox), apiKey: key.api_key, secretKey });
    await client(key.secret_key).balances.retrieve();
    const rotated = await ask<{ secret_key: string }>('keys', 'rotate', key.key_id, '--overlap', '1h');
    await client(key.secret_key).balances.retrieve();
    await client(rotated.secret_key).balances.retrieve();
    const last = await ask<{ secret_key: string }>('keys', 'rotate', key.key_id, '--overlap', '0');
    await expect(client(rotated.secret_key).balances.retrieve()).rejects.toMatchObject({ status: 401 });
    const next = await ask<{ key_id: string }>(...create);
    await ask('stores', 'disable', store.store_id);
    await expect(client(last.secret_key).balances.retrieve()).rejects.toMatchObject({ status: 403 });
    expect((await refusal('keys', 'revoke', key.key_id)).message).toContain('webhook-key');
    await ask('stores', 'webhook-key', store.store_id, next.key_id, '--overlap', '0');
    await ask('keys', 'revoke', key.key_id);
    await expect(client(last.secret_key).balances.retrieve()).rejects.toMatchObject({ status: 401 });
    const list = await ask<{ revoked_at: string | null }[]>('keys', 'list', ...of);
    expect(list.map((one) => one.revoked_at === null)).toEqual([false, true]);
    expect(await ask('merchants', 'suspend', merchant.merchant_id)).toMatchObject({ status: 'suspended' });
    expect(await ask('merchants', 'resume', merchant.merchant_id)).toMatchObject({ status: 'active' });
  });

  test('a large batch waits for a registered approver with a token', async () => {
    const of = ['--merchant', credentials().merchant_id];
    const { token } = await ask<{ token: string }>('approvers', 'add', 'Ada', ...of);
    const [first, second] = [await submitted('20000.00'), await submitted('30000.00')];
    expect(await ask('payouts', 'list', '--status', 'pending_approval')).toHaveLength(2);

    const approve = ['payouts', 'approve', first, '--as', 'Ada'];
    const wrong = await command(approve, { FLORIN_APPROVER_TOKEN: 'fla_wrong' });
    expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('approver') });
    const unasked = await command(approve);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--token-file') });
    const right = await command(approve, { FLORIN_APPROVER_TOKEN: token });
    expect(right).toMatchObject({ code: 0, stdout: expect.stringContaining('pending') });

    const file = path.join(dataDir, 'ada.token');
    writeFileSync(file, `${token}\n`);
    const reject = ['payouts', 'reject', second, '--as', 'Ada', '--token-file', file];
    expect(await ask(...reject)).toMatchObject({ status: 'rejected', frozen_amount: '0.00' });
    await until(async () => (await sdk().payouts.retrieve(first)).status === 'completed', 20_000);

    expect(await ask('approvers', 'list', ...of)).toMatchObject([{ name: 'Ada' }]);
    await ask('approvers', 'remove', 'Ada', ...of);
    expect(await ask('approvers', 'list', ...of)).toEqual([]);
  });

  test('settings and the risk list are shown and changed', async () => {
    await ask('settings', 'set', 'payouts.approval_above', '5000.00');
    expect(await ask('settings', 'get', 'payouts.approval_above')).toMatchObject({ value: '5000.00' });
    const unset = await ask('settings', 'unset', 'payouts.approval_above');
    expect(unset).toMatchObject({ value: { sandbox: '10000.00', live: '1000.00' } });
    expect((await refusal('settings', 'set', 'payouts.approvals', 'many')).message).toContain(
      'payouts.approvals',
    );
    const sources = { name: 'rates.sources', value: { sandbox: ['fixed'], live: [] } };
    expect(await ask('settings', 'list')).toContainEqual(expect.objectContaining(sources));
    const quota = await ask('settings', 'get', 'payouts.daily_quota');
    expect(quota).toMatchObject({ value: { sandbox: '5000000.00', live: '10000.00' } });

    await ask('risk', 'add', 'erc20', RECIPIENT, '--reason', 'court order');
    expect((await sdk().payouts.create(batchOf('1.00'))).validation_errors).toMatchObject([
      { code: 'address_risk' },
    ]);
    expect(await ask('risk', 'list')).toMatchObject([{ address: RECIPIENT, reason: 'court order' }]);
    await ask('risk', 'remove', 'erc20', RECIPIENT);
    expect((await refusal('risk', 'remove', 'erc20', RECIPIENT)).code).toBe('resource_not_found');
    expect((await command(['risk', 'list'])).stdout).toBe('(none)\n');
  });

  test('ledger verify distinguishes agreement, a difference and an unreachable source by exit code', async () => {
    expect(await ask('ledger', 'verify')).toMatchObject({ differences: [], unseen: [] });
    const database = new pg.Client({ connectionString: databaseUrl() });
    await database.connect();
    const shift = (units: number) =>
      database.query(
        `update ledger_account set balance = balance + ${units} where account = 'available' and currency = 'USDC'`,
      );
    await shift(1_500_000);
    const text = await command(['ledger', 'verify']);
    const json = await command(['ledger', 'verify', '--json']);
    await shift(-1_500_000);
    await database.end();
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/DIFFERENCE[\s\S]* 1\.500000 [\s\S]*available/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).differences[0]).toMatchObject({ found: expect.stringMatching(/^\d+$/) });
    expect((await command(['ledger', 'verify'])).code).toBe(0);
    const url = 'postgres://nobody:x@127.0.0.1:1/none';
    expect(await command(['ledger', 'verify', '--database-url', url])).toMatchObject({ code: 2, stdout: '' });
  });

  test('what is wrong is one line on standard error, wrong usage is 2', async () => {
    expect((await command(['stores', 'enable', 'store_x'])).stderr).toBe('florin: There is no store_x.\n');
    expect((await refusal('payouts', 'list', '--status', 'lost')).message).toContain('pending_approval');
    const misspelt = await command(['merchant', 'list']);
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean merchants?') });
    const unnamed = await command(['keys', 'create', 'store_x', '--json']);
    expect(unnamed.code).toBe(2);
    expect(JSON.parse(unnamed.stderr)).toMatchObject({ error: { code: 'usage' } });
    for (const words of [
      ['stores', 'review', 'store_x'],
      ['keys', 'rotate', 'key_x', '--overlap', '1.5h'],
    ]) {
      expect((await command(words)).code, words.join(' ')).toBe(2);
    }
  });
});

const at = ({ baseUrl }: Sandbox) => ({ baseUrl });

async function submitted(amount: string): Promise<string> {
  const { batch_id } = await sdk().payouts.create(batchOf(amount));
  expect((await sdk().payouts.submit(batch_id)).status).toBe('pending_approval');
  return batch_id;
}

describe.skipIf(isSecondRun || !hasCurl)('florin sign', { timeout: LONG_MS }, () => {
  /** Runs the curl command that was printed, as a person would. */
  async function send(words: readonly string[], input?: string): Promise<PayoutBatch> {
    const given = input === undefined ? {} : { input };
    const { stdout, stderr, code } = await florin(['sign', ...words], { env: folderEnv(), ...given });
    expect([code, stderr]).toEqual([0, expect.stringContaining('5 minutes')]);
    expect(stdout).not.toContain(credentials().secret_key);
    return JSON.parse((await run('sh', ['-c', stdout])).stdout);
  }

  test('makes, submits and reads a batch with nothing but curl', async () => {
    const body = JSON.stringify({
      ...batchOf('7.25'),
      description: 'Ann\'s $HOME `pay` \\ "Zürich" 東京\n!',
    });
    const path_ = '/api/v1/payout-batches';
    const words = ['POST', path_, '--idempotency-key', "it's one"];
    const batch = await send([...words, '--data', body]);
    expect(batch).toMatchObject({ status: 'draft', description: JSON.parse(body).description });
    expect((await send([...words, '--data', '@-'], body)).batch_id).toBe(batch.batch_id);
    const file = path.join(dataDir, 'batch.json');
    writeFileSync(file, body);
    expect((await send([...words, '--data', `@${file}`])).batch_id).toBe(batch.batch_id);

    await send(['POST', `${path_}/${batch.batch_id}/submit`]);
    const read = () => send(['get', `${path_}/${batch.batch_id}`]);
    await until(async () => (await read()).status === 'completed', 30_000);
  });

  test('signs with a key of the environment, which has to be whole', async () => {
    const { base_url, api_key, secret_key } = credentials();
    const env = { FLORIN_BASE_URL: base_url, FLORIN_API_KEY: api_key, FLORIN_SECRET_KEY: secret_key };
    const { stdout } = await florin(['sign', 'GET', '/api/v1/balances', '--json'], { env, cwd: dataDir });
    const { method, url, headers, body } = JSON.parse(stdout);
    expect([method, body]).toEqual(['GET', '']);
    expect((await fetch(url, { headers })).status).toBe(200);

    const part = await florin(['sign', 'GET', '/x'], { env: { ...env, FLORIN_SECRET_KEY: undefined } });
    expect(part).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('FLORIN_SECRET_KEY') });
    const none = await florin(['sign', 'GET', '/x'], { cwd: dataDir });
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('start the sandbox first') });
  });
});

describe.skipIf(isSecondRun)('production', { timeout: LONG_MS }, () => {
  test('serve and work make up neither a database nor a master key', async () => {
    for (const role of ['serve', 'work']) {
      const bare = await florin([role]);
      expect(bare, role).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^florin: DATABASE_URL.*\n$/),
      });
      const keyless = await florin([role], { env: { DATABASE_URL: databaseUrl() } });
      expect(keyless, role).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^florin: FLORIN_MASTER_KEY.*\n$/),
      });
    }
    const env = { DATABASE_URL: databaseUrl(), FLORIN_MASTER_KEY: '00'.repeat(32) };
    const wrongKey = await florin(['work'], { env });
    expect(wrongKey).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^florin: .*another installation\.\n$/),
    });
    const away = await florin(['serve'], { env: { ...env, DATABASE_URL: 'postgres://x:y@127.0.0.1:1/x' } });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^florin: The database cannot be used.*\n$/),
    });
    const open = await florin(['start', '--host', '0.0.0.0', '--data-dir', dataDir]);
    expect(open).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^florin: FLORIN_HOST.*plain HTTP.*\n$/),
    });
  });

  test('the guide for operators names every setting', async () => {
    const guide = readFileSync(path.resolve(import.meta.dirname, '..', 'docs', 'operating.md'), 'utf8');
    for (const { env, flag } of Object.values(CONFIG_OPTIONS))
      expect(guide).toContain(`| \`${env}\` | \`${flag}\` |`);
  });
});

describe.skipIf(isSecondRun)('stopping and starting again', { timeout: LONG_MS }, () => {
  test('SIGTERM ends it with 0 within ten seconds and leaves no PostgreSQL', async () => {
    const { code, tookMs, stderr } = await sandbox.stop('SIGTERM');
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(STOP_MAX_MS);
    expect(stderr).toBe('stopping…\n');
    expect(isAlive(sandbox.postgresPid)).toBe(false);
    expect(readdirSync(dataDir)).not.toContain('running.json');
    expect(await command(['stores', 'list'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('start the sandbox (npm start)'),
    });
    expect((await command(['ledger', 'verify'])).code).toBe(2);
  });

  test('the next start keeps keys and money', async () => {
    const before = credentials();
    sandbox = await startSandbox(dataDir);
    expect({ ...credentials(), base_url: '' }).toEqual({ ...before, base_url: '' });
    const balances = await sdk().balances.retrieve();
    // 3 × 1,000,000.00 less what the batches above paid out with their fees.
    expect(balances.data.find((row) => row.currency === 'USDT')?.available).toBeLessThan(3_000_000_000_000);
    expect((await sdk().payouts.list({ status: 'completed' }).page()).data.length).toBeGreaterThan(0);
    expect((await command(['ledger', 'verify'])).code).toBe(0);
  });

  test('after SIGKILL the next start takes PostgreSQL over and everything agrees', async () => {
    const { batch_id } = await sdk().payouts.create(batchOf('3.00'));
    await sdk().payouts.submit(batch_id);
    const { postgresPid } = sandbox;
    await sandbox.stop('SIGKILL');
    expect(isAlive(postgresPid)).toBe(true);
    sandbox = await startSandbox(dataDir);
    expect(sandbox.postgresPid).toBe(postgresPid);
    await until(async () => (await sdk().payouts.retrieve(batch_id)).status === 'completed', 30_000);
    expect((await command(['ledger', 'verify'])).code).toBe(0);
  });

  test('serves on when the reader of its output goes away', async () => {
    sandbox.process.stdout?.destroy();
    sandbox.process.stderr?.destroy();
    expect((await fetch(`${sandbox.baseUrl}/readyz`)).status).toBe(200);
    // It has something to say now, and nobody to say it to.
    expect((await sandbox.stop('SIGINT')).code).toBe(0);
    // Taken over from a killed parent, it is a child of init, which says when it is gone.
    await until(() => !isAlive(sandbox.postgresPid), STOP_MAX_MS);
  });

  test('a second signal ends it at once with 1', async () => {
    sandbox = await startSandbox(dataDir);
    // A request that never ends keeps the orderly stop waiting.
    const hanging = fetch(sandbox.baseUrl, { method: 'POST', body: new ReadableStream(), duplex: 'half' });
    void hanging.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    sandbox.process.kill('SIGTERM');
    await until(() => sandbox.printed.stderr.includes('stopping'), 20_000);
    // Signals within 300 ms count once.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { code, tookMs } = await sandbox.stop('SIGTERM');
    expect([code, tookMs < 3_000]).toEqual([1, true]);
    await until(() => !isAlive(sandbox.postgresPid), STOP_MAX_MS);
  });
});
