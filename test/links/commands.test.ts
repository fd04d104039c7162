import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { florinOf } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { decodeQr } from './decode-qr.ts';

// Each command is a process of its own.

let service: TestService;
let merchant: TestMerchant;
let folder: string;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  folder = mkdtempSync(path.join(tmpdir(), 'florin-links-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const run = (...words: string[]) => florinOf(service, merchant).run('links', ...words);

/** What a phone reads from a dark terminal: printed halves are light. */
function readTerminal(lines: readonly string[]): string | undefined {
  const size = lines[0]?.length ?? 0;
  const dark = { '█': [false, false], '▀': [false, true], '▄': [true, false], ' ': [true, true] };
  const pieces = lines.flatMap((line, y) =>
    [...line].flatMap((character, x) =>
      (dark[character as keyof typeof dark] ?? []).flatMap((isDark, half) =>
        isDark && 2 * y + half < size ? [`M${x} ${2 * y + half}h1`] : [],
      ),
    ),
  );
  return decodeQr(pieces.join(''), size);
}

test('florin links creates, lists, closes and opens links', async () => {
  const made = JSON.parse((await run('create', '19.99', 'usd', '--description', 'Coffee', '--json')).stdout);
  expect(made).toMatchObject({ amount: 1_999, currency: 'USD', description: 'Coffee', active: true });
  const open = JSON.parse((await run('create', 'JPY', '--open', '--json')).stdout);
  expect(open).toMatchObject({ amount: null, open: true, currency: 'JPY' });
  const { stdout } = await run('list');
  expect(stdout).toMatch(/\$19\.99/);
  expect(stdout).toMatch(/open, JPY/);
  expect(JSON.parse((await run('disable', made.id, '--json')).stdout)).toEqual({ ...made, active: false });
  expect(JSON.parse((await run('enable', made.id, '--json')).stdout)).toEqual(made);
  expect(JSON.parse((await run('show', made.id, '--json')).stdout)).toEqual(made);
  for (const words of [['19.99'], ['USD', 'EUR'], ['19.99', 'USD', '--open'], ['XYZ', '--open']]) {
    expect([words, (await run('create', ...words)).code]).toEqual([words, 2]);
  }
});

test('florin links qr shows a code in the terminal, or writes one to print', async () => {
  const { id, url } = await merchant.sdk.paymentLinks.create({ open: true, currency: 'EUR' });
  const { stdout } = await run('qr', id);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.at(-1)).toBe(url);
  expect(new Set(lines.slice(0, -1).map((line) => line.length)).size).toBe(1);
  expect(readTerminal(lines.slice(0, -1))).toBe(url);
  const file = path.join(folder, 'counter.svg');
  expect((await run('qr', id, '--svg', file)).stdout).toBe(`${url}\n`);
  expect(readFileSync(file, 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\s*$/);
  const refused = await run('qr', id, '--svg', path.join(folder, 'no', 'such.svg'), '--json');
  expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'svg']);
});
