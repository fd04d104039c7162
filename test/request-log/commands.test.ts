import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { follow } from '../florin-command.ts';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';
import { type Credentials, send } from '../signed-request.ts';

const LONG_MS = 180_000;
const { command, ask, read, dataDir } = useSandbox();

interface Listed {
  id: string;
  request_id: string;
  status: number;
  route: string;
  refusal: string | null;
}

function place(): { baseUrl: string; credentials: Credentials } {
  const { base_url: baseUrl, api_key: apiKey, secret_key: secretKey } = read('sandbox.json');
  return { baseUrl, credentials: { apiKey, secretKey } };
}

/** A character that a terminal obeys, or that turns the direction of a line. */
const obeyed = (character: string) => character !== '\n' && /[\p{Cc}\p{Cf}]/u.test(character);

/** Sends a request, and waits until it is in the log. */
async function logged(path: string, options: Parameters<typeof send>[2] = {}): Promise<string> {
  const { baseUrl, credentials } = place();
  const { headers } = await send(`${baseUrl}${path}`, credentials, options);
  const id = headers.get('x-request-id') ?? '';
  await expect
    .poll(async () => (await ask<Listed[]>('requests', 'list', '--request-id', id)).length, {
      timeout: 60_000,
    })
    .toBe(1);
  return id;
}

test.skipIf(isSecondRun)(
  'requests are listed by what they are filtered for, as table, JSON and CSV',
  { timeout: LONG_MS },
  async () => {
    const found = await logged('/api/v1/balances');
    const missing = await logged('/api/v1/payments/pay_nothing');
    const ids = async (...flags: string[]) =>
      (await ask<Listed[]>('requests', 'list', ...flags)).map(({ request_id }) => request_id);
    expect(await ids('--route', '/api/v1/balances')).toContain(found);
    expect(await ids('--status', '4xx')).toContain(missing);
    expect(await ids('--status', '4xx')).not.toContain(found);
    expect(await ids('--error-code', 'resource_not_found', '--method', 'get')).toEqual([missing]);
    expect(await ids('--since', '1h', '--limit', '1')).toEqual([missing]);
    expect(await ids('--until', '2020-01-01')).toEqual([]);
    const [{ key = '', store = '' } = {}] = await ask<{ key?: string; store?: string }[]>('requests', 'list');
    expect(await ids('--key', key, '--store', store, '--after', missing)).toContain(found);

    const table = await command(['requests', 'list']);
    expect([table.code, table.stdout.includes('/api/v1/balances')]).toEqual([0, true]);
    const csv = await command(['requests', 'list', '--csv']);
    expect(csv.stdout).toMatch(/^id,at,request_id,merchant,store,key,verified,method,route,/);
    expect(csv.stdout).toMatch(/# \d+ rows\r\n$/);
    const wrong = await command(['requests', 'list', '--status', 'bad']);
    expect([wrong.code === 0, wrong.stderr.includes('4xx')]).toEqual([false, true]);
  },
);

test.skipIf(isSecondRun)(
  'one request is shown with headers and bodies; hostile text reaches no terminal as it is',
  { timeout: LONG_MS },
  async () => {
    const hostile = '\u001b[2J\u001b]0;owned\u0007\u202e<script>\u0000';
    const id = await logged('/api/v1/checkout/sessions/create', {
      body: JSON.stringify({ amount: 100, currency: 'USD', description: hostile.replace('\u0000', '') }),
      headers: { 'user-agent': 'a "client"' },
    });
    const raw = await logged('/api/v1/checkout/sessions/create', { body: hostile });
    const deep = await logged('/api/v1/checkout/sessions/create', {
      body: `${'['.repeat(500)}${']'.repeat(500)}`,
    });
    // Half a megabyte when it is indented.
    expect((await command(['requests', 'show', deep])).stdout.length).toBeLessThan(20_000);
    for (const shown of [await command(['requests', 'show', id]), await command(['requests', 'show', raw])]) {
      expect([shown.code, shown.stderr]).toEqual([0, '']);
      expect(shown.stdout).toMatch(/REQUEST\n[\s\S]*authorization: Bearer \[redacted\][\s\S]*ANSWER/);
      expect([...shown.stdout].filter(obeyed)).toEqual([]);
    }
    const list = await command(['requests', 'list', '--csv']);
    expect(list.code).toBe(0);
  },
);

test.skipIf(isSecondRun)(
  'a refused signature is explained: what the server signed, and which step differs',
  { timeout: LONG_MS },
  async () => {
    const id = await logged('/api/v1/checkout/sessions/create', {
      body: '{"amount":100,"currency":"USD"}',
      signedBody: '{"amount": 100, "currency": "USD"}',
    });
    const { stdout } = await command(['requests', 'show', id]);
    expect(stdout).toMatch(/The signature was refused\. The body was serialised again/);
    expect(stdout).toMatch(
      /What the server signed, \d+ bytes, SHA-256 [0-9a-f]{64}:\n\d+\.[^\n]+\{"amount":100,"currency":"USD"\}/,
    );
    expect(stdout).toMatch(/signed bytes\s+NO/);
    expect(stdout).toContain('Secrets are masked here');
    const none = await command(['requests', 'show', `req_${randomUUID().replaceAll('-', '')}`]);
    expect([none.code === 0, none.stderr.includes('There is no request')]).toEqual([false, true]);
  },
);

test.skipIf(isSecondRun)(
  '--follow prints requests as they come, and ends by a signal',
  { timeout: LONG_MS },
  async () => {
    const words = ['requests', 'list', '--follow', '--json'];
    const follower = follow(words, { env: { FLORIN_DATA_DIR: dataDir() } });
    const followed = () => follower.printed.stdout.split('\n').filter((line) => line !== '');
    const { baseUrl, credentials } = place();
    const sent: (string | null)[] = [];
    await expect
      .poll(
        async () => {
          const { headers } = await send(`${baseUrl}/api/v1/balances`, credentials);
          sent.push(headers.get('x-request-id'));
          return followed().length;
        },
        { timeout: 120_000, interval: 1_000 },
      )
      .toBeGreaterThan(1);
    const ids = followed().map((line) => (JSON.parse(line) as Listed).request_id);
    expect([new Set(ids).size, ids.every((id) => sent.includes(id))]).toEqual([ids.length, true]);
    expect((await follower.stop('SIGTERM')).code).toBe(0);
  },
);
