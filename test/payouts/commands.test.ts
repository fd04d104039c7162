import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { florinOf } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

// Each command is a process of its own.

let service: TestService;
let merchant: TestMerchant;
const folder = mkdtempSync(path.join(tmpdir(), 'florin-payouts-'));

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
});
afterAll(() => service.stop());

const run = (...words: string[]) => florinOf(service, merchant).run(...words);
const ask = <T>(...words: string[]) => florinOf(service, merchant).ask<T>(...words);

const tron = testAddresses('trc20');
const ether = testAddresses('erc20');

function file(name: string, text: string | Buffer): string {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
}

interface Batch {
  batch_id: string;
  status: string;
  total_count: number;
}

const count = async () => (await merchant.sdk.payouts.list().page()).data.length;

test('a CSV is checked, paid on each network and waited for; the exit code says whether all is paid', async () => {
  const rows = [
    `${tron.succeed};12.50;trc20;José`,
    `${ether.succeed};3;erc20;Brook`,
    `${tron.succeed};99.99;trc20;`,
  ];
  const name = file('pay.csv', `\uFEFFaddress;amount;network;real_name\r\n${rows.join('\r\n')}\r\n`);
  const before = await count();
  const dry = await run('payouts', 'create', name, '--currency', 'USDT', '--dry-run');
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(/1\s+USDT\s+trc20\s+2\s+112\.49\n\s*2\s+USDT\s+erc20\s+1\s+3\.00/);
  expect(await count()).toBe(before);

  const paid = await ask<Batch[]>('payouts', 'create', name, '--currency', 'USDT', '--submit', '--wait');
  expect(paid.map(({ status, total_count }) => [status, total_count])).toEqual([
    ['completed', 2],
    ['completed', 1],
  ]);
  const id = paid[0]?.batch_id ?? '';
  expect(await ask<object[]>('payouts', 'items', id)).toMatchObject([
    { status: 'succeeded', real_name: 'José', amount: '12.50' },
    { status: 'succeeded', amount: '99.99' },
  ]);
  const { stdout } = await run('payouts', 'items', id, '--status', 'succeeded', '--csv');
  expect(stdout.trimEnd().split('\r\n').at(-1) ?? stdout).toContain('2 rows');
  expect((await run('payouts', 'show', id)).stdout).toMatch(/status\s+completed/);
});

test('a file whose payouts fail in part ends with 1', async () => {
  const body = {
    currency: 'USDC',
    items: [
      { network: 'trc20', address: tron.succeed, amount: '1' },
      { network: 'trc20', address: tron.fail, amount: '2' },
    ],
  };
  const name = file('part.json', JSON.stringify(body));
  const { code, stdout } = await run('payouts', 'create', name, '--submit', '--wait', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([
    { status: 'partially_completed', success_count: 1, failed_count: 1 },
  ]);
});

test('what the service finds is told by the row, and nothing is submitted', async () => {
  const name = file(
    'wrong.csv',
    `address,amount,network,currency\n${tron.succeed},1,trc20,USDT\n${ether.succeed},1,trc20,USDT\n`,
  );
  const told = await run('payouts', 'create', name, '--submit', '--wait');
  expect(told.code).toBe(1);
  expect(told.stderr).toMatch(/^row 3, column address: .+\nNothing was submitted/m);
  const { code, stdout, stderr } = await run('payouts', 'create', name, '--submit', '--wait', '--json');
  expect([code, stderr]).toEqual([1, '']);
  const [made] = JSON.parse(stdout);
  expect(made).toMatchObject({ status: 'draft', invalid_count: 1, submitted_at: null });
  expect(await ask('payouts', 'cancel', made.batch_id)).toMatchObject({ status: 'canceled' });
});

test('a draft is submitted later, once, and the same key makes one payout of repeats', async () => {
  const rows = Array.from({ length: 201 }, (_, i) => `${tron.succeed},${i + 1},trc20,USDC\n`);
  const name = file('many.csv', `address,amount,network,currency\n${rows.join('')}`);
  const words = ['payouts', 'create', name, '--idempotency-key', 'salaries'];
  const [first, second] = [await ask<Batch[]>(...words), await ask<Batch[]>(...words)];
  expect(first.map(({ total_count }) => total_count)).toEqual([200, 1]);
  expect(second.map(({ batch_id }) => batch_id)).toEqual(first.map(({ batch_id }) => batch_id));
  const id = first[1]?.batch_id ?? '';
  expect(await ask('payouts', 'submit', id, '--wait')).toMatchObject({ status: 'completed' });
});

test('a wrong file is refused before anything is sent, with a line for each fault', async () => {
  const before = await count();
  const text = `address,amount,network,currency\n${tron.succeed},"1,5",trc20,USDT\nA,1,tron,USDT\n`;
  const name = file('faults.csv', text);
  const { code, stderr, stdout } = await run('payouts', 'create', name, '--submit');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n')).toEqual([
    `florin: ${name}, row 2, column amount: "1,5" is not an amount such as 1200.50`,
    `${name}, row 3, column network: "tron" is not one of erc20, trc20, spl`,
    'Nothing was sent.',
  ]);
  const latin = await run('payouts', 'create', file('latin.csv', Buffer.from('address\nJos\xe9', 'latin1')));
  expect(latin.stderr).toContain('row 2: it is not UTF-8');
  expect((await run('payouts', 'create', name, '--wait')).code).toBe(2);
  expect((await run('payouts', 'create', path.join(folder, 'nothing.csv'))).stderr).toContain(
    'cannot be read',
  );
  expect(await count()).toBe(before);
});

test('subscriptions are CSV, too', async () => {
  const { code, stdout } = await run('subscriptions', 'list', '--csv');
  expect(code).toBe(0);
  expect(stdout).toMatch(/# 0 rows/);
});
