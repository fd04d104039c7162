import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSdk } from '../../scripts/packages.ts';
import { installed, isRegistryReachable, output, pack, packagesIn } from './installed.ts';

/** As a shop's own code is compiled: the types of packages are checked too. */
const STRICT = { strict: true, noEmit: true, target: 'es2022', types: ['node'], skipLibCheck: false };
const MODULES = [{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }];

async function compile(shop: string, module: object, files: readonly string[]): Promise<string> {
  writeFileSync(
    path.join(shop, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...STRICT, ...module }, files }),
  );
  return await output(shop, path.join(shop, 'node_modules/.bin/tsc'), []);
}

/** The oldest that is supported, one whose `require()` takes modules, and today's. */
const NODES = [
  ['20.8.0', ['import']],
  ['22.23.3', ['import', 'require']],
  ['24.21.0', ['import', 'require']],
] as const;

const NOT_THERE = /E404|ETARGET|ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/;

const SHOP = `
const { Florin, webhooks, usdt } = loaded;
new Florin({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', secretKey: 'secret' });
const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', sequence: 1, data: { object: { id: 'in_1' } } });
const event = webhooks.verify(
  new TextEncoder().encode(body), webhooks.generateTestHeaders(body, 'whsec'), 'whsec');
console.log(event.type, usdt('12.34'));
`;

const canInstall = await isRegistryReachable();

describe.skipIf(!canInstall)('the SDK as it is published', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-sdk-'));
  let tarball: string;
  let files: string[];
  let shop: string;
  beforeAll(async () => {
    ({ tarball, files } = await pack(await makeSdk(folder), folder));
    shop = await installed(tarball);
  }, 120_000);
  afterAll(() => {
    for (const one of [folder, shop]) if (one !== undefined) rmSync(one, { recursive: true, force: true });
  });

  test('has its code, its types, how to use it and its licence, and needs no other package', async () => {
    // What both entries share has the hash of its content in its name.
    const names = files.map((file) => file.replace(/^florin-[\w-]+\./, 'shared.'));
    expect(names.toSorted()).toEqual(
      'LICENSE README.md index.d.ts index.js package.json shared.d.ts shared.js testing.d.ts testing.js'.split(
        ' ',
      ),
    );
    expect(await packagesIn(shop)).toEqual(['@florin/sdk']);
    expect((await publint({ pkgDir: path.join(folder, 'sdk') })).messages).toEqual([]);
  });

  test('its README’s programs compile in a shop, strictly, however it finds modules', {
    timeout: 120_000,
  }, async () => {
    const readme = readFileSync(path.join(shop, 'node_modules/@florin/sdk/README.md'), 'utf8');
    const programs = [...readme.matchAll(/```ts.*?\n(.*?)```/gs)].map(([, program = '']) => program);
    expect(programs.length).toBeGreaterThan(2);
    const names = programs.map((_, i) => `program-${i}.ts`);
    for (const [i, name] of names.entries()) writeFileSync(path.join(shop, name), programs[i] ?? '');
    const own = readFileSync('package.json', 'utf8');
    const { devDependencies } = JSON.parse(own) as { devDependencies: Record<string, string> };
    const tools = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`);
    await output(shop, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tools]);
    writeFileSync(path.join(shop, 'wrong.ts'), "import { usdt } from '@florin/sdk';\nusdt(12.34);\n");
    for (const module of MODULES) {
      expect(await compile(shop, module, names)).toBe('');
      await expect(compile(shop, module, ['wrong.ts'])).rejects.toThrow('TS2345');
    }
  });

  test.for(NODES)('runs on Node %s', { timeout: 240_000 }, async ([version, ways], { skip }) => {
    const carrier = `node-${process.platform}-${process.arch}`;
    const node = await installed(`${carrier}@${version}`).catch((error: Error) => {
      if (!NOT_THERE.test(error.message)) throw error;
      return skip(`npm has no ${carrier}@${version}, or its registry is not reachable`);
    });
    const program = path.join(node, `node_modules/${carrier}/bin/node`);
    expect(await output(shop, program, ['--version'])).toBe(`v${version}\n`);
    const loads = {
      import: { name: 'shop.mjs', line: `import * as loaded from '@florin/sdk';` },
      require: { name: 'shop.cjs', line: `const loaded = require('@florin/sdk');` },
    };
    for (const way of ways) {
      const { name, line } = loads[way];
      writeFileSync(path.join(shop, name), line + SHOP);
      expect(await output(shop, program, [name])).toBe('invoice.paid 12340000n\n');
    }
    rmSync(node, { recursive: true, force: true });
  });
});
