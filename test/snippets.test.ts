import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Florin } from '@florin/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from './free-port.ts';
import { FLORIN } from './programs.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const NO_RUN = 'no-run: ';
const LONG = { timeout: 300_000 };
const POLL = { timeout: 120_000, interval: 200 };

/** A block of code in the docs. Its first line is ```` ```LANGUAGE [run] [FILE] [exit=CODE] [no-run: REASON] ````. */
interface Snippet {
  /** Page and line, for people. */
  at: string;
  language: string;
  /** Its name among the files that the page writes. */
  file: string | undefined;
  runs: boolean;
  /** What its last command ends with, if not with 0. */
  exit: number;
  /** Why it cannot run. */
  reason: string | undefined;
  text: string;
}

const PAGES = globSync(['README.md', 'packages/{cli,sdk}/README.md', 'docs/{,recipes/}*.md'], {
  cwd: ROOT,
}).toSorted();

function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, info = '', code = ''] = match;
    const [what = '', reason] = info.split(NO_RUN, 2);
    const [language = '', ...words] = what.trim().split(/\s+/);
    const line = text.slice(0, match.index).split('\n').length;
    return {
      at: `${page}:${line}`,
      language,
      file: words.find((word) => word.includes('.')),
      runs: reason === undefined && (language === 'sh' || words.includes('run')),
      exit: Number(words.find((word) => word.startsWith('exit='))?.slice('exit='.length) ?? 0),
      reason,
      text: code,
    };
  });
}

/** Calls the route handlers as Next.js does. */
const CALL_ROUTES = `
import assert from 'node:assert/strict';
import { webhooks } from '@florin/sdk';
import { POST as pay } from './app/orders/[order]/pay/route.ts';
import { POST as hear } from './app/webhooks/route.ts';

const answer = await pay(new Request('http://shop.example/orders/N-1/pay'), { params: Promise.resolve({ order: 'N-1' }) });
assert.equal(answer.status, 303);
assert.ok(answer.headers.get('location').startsWith(process.env.FLORIN_BASE_URL + '/checkout/'));
const body = JSON.stringify({ id: 'evt_1', type: 'payment.completed', sequence: 1, data: { object: { id: 'pay_1', order_id: 'N-1' } } });
const headers = webhooks.generateTestHeaders(body, process.env.FLORIN_SECRET_KEY);
const heard = await hear(new Request('http://shop.example/webhooks', { method: 'POST', headers, body }));
assert.equal(heard.status, 200);
`;

const SNIPPETS = PAGES.flatMap(snippetsOf);
const of = (language: string) => SNIPPETS.filter((snippet) => snippet.language === language);

test('each block says what it holds, and one that cannot run says why', () => {
  for (const { at, language, reason } of SNIPPETS) {
    expect(['sh', 'ts', 'json', 'html', 'text', 'mermaid'], at).toContain(language);
    if (reason === undefined) continue;
    expect(reason.length, at).toBeGreaterThan(10);
    console.log(`not run: ${at} (${reason})`);
  }
  expect(SNIPPETS.filter(({ runs }) => runs).length).toBeGreaterThan(15);
});

test('blocks of JSON can be read', () => {
  expect(of('json').length).toBeGreaterThan(2);
  for (const { at, text } of of('json')) expect(() => JSON.parse(text), at).not.toThrow();
});

/** What the pieces of code in the docs take as given. */
const GIVEN = `import type { Florin as Client, SequenceStore, SubscriptionItemInput } from '@florin/sdk';
import type { KeyObject } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
declare global {
  const florin: Client;
  const id: string;
  const items: SubscriptionItemInput[];
  const session: { id: string };
  const secret: string;
  const privateKey: KeyObject;
  const pool: Pool;
  const postgresStore: (pool: Pool) => SequenceStore<PoolClient>;
  const webhooks: typeof import('@florin/sdk').webhooks;
  const signApproval: typeof import('@florin/sdk').signApproval;
  const lastSeen: () => Promise<string>;
  const remember: (id: string) => Promise<void>;
  const handle: (event: { id: string }) => Promise<void>;
}
`;
const SETTINGS = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  },
};

test('all TypeScript is sound by the types of the SDK', LONG, async () => {
  const folder = path.join(ROOT, 'node_modules/.cache/snippets');
  rmSync(folder, { recursive: true, force: true });
  const places = new Map<string, string>();
  for (const [at, { file, text, at: where }] of of('ts').entries()) {
    const place = path.join(String(at), file ?? 'piece.ts');
    places.set(place, where);
    mkdirSync(path.dirname(path.join(folder, place)), { recursive: true });
    writeFileSync(path.join(folder, place), `${text}\nexport {};\n`);
  }
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(folder, 'given.d.ts'), GIVEN);
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  const faults = stdout.replaceAll(/^[^\s(]+/gm, (place) => places.get(place) ?? place);
  expect(faults).toBe('');
  expect(places.size).toBeGreaterThan(20);
});

describe('blocks that run, on a sandbox', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-snippets-'));
  const bin = path.join(folder, 'bin');
  const variables = path.join(folder, 'variables');
  let sandbox: ChildProcess;
  let keys: Record<string, string> = {};

  const command = (name: string, line: string) => {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(path.join(bin, name), 0o755);
  };

  beforeAll(async () => {
    mkdirSync(bin);
    command('florin', `exec "${process.execPath}" "${FLORIN}" "$@"`);
    command('npx', `shift; exec "${process.execPath}" "${FLORIN}" "$@"`);
    command('node', `exec "${process.execPath}" "$@"`);
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(variables, '');
    const words = [FLORIN, 'start', '--json', '--port', '0', '--data-dir', path.join(folder, '.florin')];
    sandbox = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    if (sandbox.stdout === null) throw new Error('the sandbox has no output');
    const [ready] = await once(createInterface(sandbox.stdout), 'line');
    keys = JSON.parse(readFileSync(JSON.parse(String(ready)).credentials_file, 'utf8'));
  }, 120_000);
  afterAll(async () => {
    const ended = once(sandbox, 'exit');
    sandbox.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  /** A program in the folder of the pages' files, with the keys of the sandbox. */
  function started(program: string, words: string[], more: Record<string, string> = {}) {
    const { base_url = '', api_key = '', secret_key = '' } = keys;
    const child = spawn(program, words, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        HOME: folder,
        BASE_URL: base_url,
        API_KEY: api_key,
        SECRET_KEY: secret_key,
        FLORIN_BASE_URL: base_url,
        FLORIN_API_KEY: api_key,
        FLORIN_SECRET_KEY: secret_key,
        ...more,
      },
    });
    const pieces: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => pieces.push(piece.toString()));
    return { child, output: () => pieces.join('') };
  }

  /** In one terminal: what a block sets, the next one has. */
  async function expectRuns(lines: string, exit = 0): Promise<void> {
    const words = ['-ec', `set -a; . ${variables}; ${lines}\nexport -p > ${variables}`];
    const { child, output } = started('bash', words);
    const [code] = await once(child, 'close');
    expect(code, `${lines}\n${output()}`).toBe(exit);
    expect(output()).not.toMatch(/"errorCode":|"error":\{/);
  }

  for (const page of PAGES) {
    const blocks = snippetsOf(page).filter(({ runs }) => runs);
    if (blocks.length === 0) continue;
    test(`${page} runs`, LONG, async () => {
      for (const { at, language, file, exit, text } of blocks) {
        console.log(`runs: ${at}`);
        if (language === 'sh') await expectRuns(text, exit);
        else {
          const name = file ?? 'piece.ts';
          writeFileSync(path.join(folder, name), text);
          await expectRuns(`node ${name}`);
        }
      }
    });
  }

  /** Writes the named files of a page. */
  function writeFiles(page: string): void {
    for (const { file, text } of snippetsOf(page)) {
      if (file === undefined) continue;
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    }
  }

  const SHOPS = [
    { page: 'docs/recipes/payment-express.md', order: 'S-1', path: '/orders/S-1/pay' },
    { page: 'packages/sdk/README.md', order: 'S-2', path: '/S-2' },
  ];
  test.for(SHOPS)(
    'the shop of $page leads to a page, and delivers when that is paid',
    LONG,
    async ({ page, order, path: payPath }) => {
      writeFiles(page);
      const port = String(await freePort());
      const shop = started(process.execPath, ['shop.ts'], { PORT: port });
      const listener = started(path.join(bin, 'florin'), [
        'listen',
        '--forward-to',
        `http://127.0.0.1:${port}/webhooks`,
      ]);
      try {
        const pay = () =>
          fetch(`http://127.0.0.1:${port}${payPath}`, { method: 'POST', redirect: 'manual' }).catch(
            () => undefined,
          );
        await expect.poll(async () => (await pay())?.status, POLL).toBe(303);
        await expect.poll(() => listener.output(), POLL).toContain('Ready: events after');
        expect((await pay())?.headers.get('location')).toMatch(`${keys.base_url}/checkout/`);
        const { base_url: baseUrl = '', api_key: apiKey = '', secret_key: secretKey = '' } = keys;
        const florin = new Florin({ baseUrl, apiKey, secretKey });
        const { data: sessions } = await florin.checkout.sessions.list({ order_id: order });
        expect(sessions).toHaveLength(1);
        const [session] = sessions;
        await florin.testHelpers.checkout.sessions.pay(session?.id ?? '', {
          currency: 'USDT',
          network: 'spl',
        });
        await expect
          .poll(() => `${shop.output()}${listener.output()}`, POLL)
          .toContain(`paid: order ${order}`);
      } finally {
        await Promise.all(
          [shop, listener].map(async ({ child }) => {
            const ended = once(child, 'exit');
            child.kill('SIGKILL');
            await ended;
          }),
        );
      }
    },
  );

  test('the routes for Next.js lead to a page, and take a signed webhook', LONG, async () => {
    writeFiles('docs/recipes/payment-nextjs.md');
    writeFileSync(path.join(folder, 'next.ts'), CALL_ROUTES);
    await expectRuns('node next.ts');
  });
});
