import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { webhooks } from '@florin/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { florin } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

let service: TestService;
let merchant: TestMerchant;
let folder: string;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  folder = mkdtempSync(path.join(tmpdir(), 'florin-commands-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const envOf = ({ apiKey, secretKey }: TestMerchant) => ({
  FLORIN_BASE_URL: service.baseUrl,
  FLORIN_API_KEY: apiKey,
  FLORIN_SECRET_KEY: secretKey,
});
const run = (words: string[], input?: string) =>
  florin(words, { env: envOf(merchant), ...(input === undefined ? {} : { input }) });

test('trigger makes a real change, and prints the events it caused', async () => {
  const { code, stdout } = await run(['trigger', 'payout_batch.updated', '--json']);
  expect(code).toBe(0);
  const { resource, events } = JSON.parse(stdout);
  const batch = await merchant.sdk.payouts.retrieve(resource);
  expect(['pending', 'processing', 'completed']).toContain(batch.status);
  expect(events.length).toBeGreaterThanOrEqual(2);
  expect((await merchant.sdk.events.retrieve(events[0])).data.previous_attributes).toBeNull();

  const none = await run(['trigger', 'webhook_endpoint.test']);
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/no enabled webhook endpoint/)]);
  const endpoint = await merchant.sdk.webhookEndpoints.create({ url: 'https://receiver.example/hooks' });
  const tested = await run(['trigger', 'webhook_endpoint.test']);
  expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining(endpoint.id)]);
}, 120_000);

test('trigger refuses unknown types, types that are not built, and live merchants', async () => {
  const unknown = await run(['trigger', 'payout.created']);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/There are: payment\.completed, /),
  ]);
  const unbuilt = await run(['trigger', 'webhook_endpoint.disabled', '--json']);
  expect(unbuilt.code).toBe(1);
  expect(JSON.parse(unbuilt.stderr).error).toEqual({
    code: 'not_built',
    message: expect.stringContaining('payout_batch.updated'),
  });
  expect((await run(['trigger'])).code).toBe(2);
  const live = await service.createMerchant({ mode: 'live' });
  const refused = await florin(['trigger', 'payout_batch.updated'], { env: envOf(live) });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/sandbox/)]);
}, 120_000);

const BODY = '{"id":"evt_1","object":"event","type":"invoice.paid"}';

function file(name: string, text: string): string {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

test('webhooks debug walks the steps: files, a whole request, secrets of every origin', async () => {
  const headers = webhooks.generateTestHeaders(BODY, merchant.secretKey);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const files = ['--headers', file('h.txt', lines.join('\n')), '--body', file('b.json', BODY)];
  const valid = await run(['webhooks', 'debug', ...files]);
  expect([valid.code, valid.stdout]).toEqual([
    0,
    expect.stringMatching(/^✓ 1 [\s\S]*✓ 6 [\s\S]*This webhook is valid\.\n$/),
  ]);

  const pasted = await run(['webhooks', 'debug', '--json'], `${lines.join('\n')}\n\n${BODY}\n`);
  expect(pasted.code).toBe(1);
  const { valid: isValid, steps } = JSON.parse(pasted.stdout);
  expect([isValid, steps[3].ok, steps[3].reason]).toEqual([
    false,
    false,
    expect.stringMatching(/ends with a line break/),
  ]);

  const apiKey = await run(['webhooks', 'debug', ...files, '--secret', merchant.apiKey]);
  expect([apiKey.code, apiKey.stdout]).toEqual([
    1,
    expect.stringMatching(/✗ 5 {2}secret\s+It was signed with the Secret Key of your credentials/),
  ]);
  const inFile = await run([
    'webhooks',
    'debug',
    ...files,
    '--secret-file',
    file('secret', `${merchant.secretKey}\n`),
  ]);
  expect(inFile.code).toBe(0);
  const later = await run(['webhooks', 'debug', ...files, '--at', '2036-01-01T00:00:00Z']);
  expect([later.code, later.stdout]).toEqual([
    1,
    expect.stringMatching(/✗ 2 {2}timestamp\s+The timestamp is \d+ d old/),
  ]);
  expect(valid.stdout + pasted.stdout + apiKey.stdout).not.toContain(merchant.secretKey);
}, 120_000);

test('webhooks debug refuses unreadable input', async () => {
  const cases: [string[], number][] = [
    [['--headers', 'nowhere.txt', '--body', 'nowhere.json'], 1],
    [['--body', 'b.json'], 2],
    [['--at', 'yesterday'], 2],
    [['--secret', ' '], 2],
    [['--secret', 'a', '--secret-file', 'b'], 2],
  ];
  for (const [words, expected] of cases) {
    expect([words, (await run(['webhooks', 'debug', ...words], '')).code]).toEqual([words, expected]);
  }
}, 120_000);
