import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSigner } from '../../scripts/packages.ts';
import { installed, isRegistryReachable, output, pack, packagesIn } from './installed.ts';

/** What a machine with keys may hold at most: somebody reads all of it. */
const PACKAGES_AT_MOST = 25;

interface Lock {
  packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
}
const lockOf = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as Lock;

const canInstall = await isRegistryReachable();

describe.skipIf(!canInstall)('the signer as it is published', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-signer-package-'));
  let files: string[];
  let machine: string;
  beforeAll(async () => {
    const packed = await pack(await makeSigner(folder), folder);
    files = packed.files;
    machine = await installed(packed.tarball);
  }, 240_000);
  afterAll(() => {
    for (const one of [folder, machine]) if (one !== undefined) rmSync(one, { recursive: true, force: true });
  });
  const program = (...words: string[]) =>
    output(machine, path.join(machine, 'node_modules/.bin/florin-signer'), words);

  test('holds no source, no test, nothing of the service, and no code of other people', async () => {
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.map$|test/.test(file))).toEqual([]);
    expect(new Set(files.map((file) => file.split('/')[0]))).toEqual(
      new Set(['LICENSE', 'README.md', 'bin', 'lib', 'package.json', 'program']),
    );
    for (const file of files.filter((one) => one.endsWith('.js'))) {
      const text = readFileSync(path.join(folder, 'signer', file), 'utf8');
      expect(text, file).not.toMatch(/fastify|merchant_id|node_modules\/@|\bSELECT\b/);
    }
    expect((await publint({ pkgDir: path.join(folder, 'signer') })).messages).toEqual([]);
  });

  test('brings few packages, each of one version for ever', async () => {
    const names = await packagesIn(machine);
    expect(names).toContain('@florin/signer');
    expect(names.length).toBeLessThanOrEqual(PACKAGES_AT_MOST);
    const own = lockOf('.');
    for (const [place, { version, dependencies = {} }] of Object.entries(lockOf(machine).packages)) {
      if (place === '') continue;
      for (const [name, range] of Object.entries(dependencies)) {
        expect(range, `${place} wants ${name}`).toMatch(/^\d+\.\d+\.\d+$/);
      }
      if (place.endsWith('@florin/signer')) continue;
      // What the tests of this repository ran with, whichever folder npm put it in.
      const tested = Object.entries(own.packages).filter(([one]) => one.endsWith(place));
      expect(tested.map(([, one]) => one.version)).toContain(version);
    }
  });

  test('makes keys and reads its journal', {
    timeout: 120_000,
  }, async () => {
    expect(await program('--help')).toContain('verify-journal');
    expect(await program('init', '--help')).toContain('$ florin-signer init');
    await expect(program('status')).rejects.toThrow('FLORIN_SIGNER');
    writeFileSync(path.join(machine, 'passphrase'), 'a passphrase of a test, long enough\n', { mode: 0o600 });
    const words = `${'abandon '.repeat(23)}art`;
    const init = promisify(execFile)(
      path.join(machine, 'node_modules/.bin/florin-signer'),
      [
        'init',
        '--restore',
        '--key-file',
        'keys.json',
        '--passphrase-file',
        'passphrase',
        '--journal',
        'journal',
        '--json',
      ],
      { cwd: machine },
    );
    init.child.stdin?.end(`${words}\n`);
    const made = JSON.parse((await init).stdout) as { fingerprint: string };
    const read = JSON.parse(await program('verify-journal', '--journal', 'journal', '--json')) as object;
    expect(read).toMatchObject({ keys: made.fingerprint, torn_bytes: 0 });
  });

  test('its modules load by name, with types that a strict program compiles against', {
    timeout: 120_000,
  }, async () => {
    const { exports } = JSON.parse(readFileSync('packages/signer/package.json', 'utf8')) as {
      exports: object;
    };
    const names = Object.keys(exports).map((place) => path.posix.join('@florin/signer', place));
    const lines = names.map((name, i) => `import * as m${i} from '${name}';`);
    const all = `console.log([${names.map((_, i) => `m${i}`).join(', ')}].every((one) => Object.keys(one).length >= 0));`;
    writeFileSync(path.join(machine, 'loads.mjs'), [...lines, all].join('\n'));
    expect(await output(machine, process.execPath, ['loads.mjs'])).toBe('true\n');
    const own = JSON.parse(readFileSync('package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const tools = ['typescript', '@types/node'].map((name) => `${name}@${own.devDependencies[name]}`);
    await output(machine, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tools]);
    writeFileSync(path.join(machine, 'right.ts'), [...lines, all].join('\n'));
    writeFileSync(
      path.join(machine, 'wrong.ts'),
      "import { addressOf } from '@florin/signer';\naddressOf(1);\n",
    );
    const compile = (module: object, file: string) => {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        types: ['node'],
        skipLibCheck: false,
        ...module,
      };
      writeFileSync(path.join(machine, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
      return output(machine, path.join(machine, 'node_modules/.bin/tsc'), []);
    };
    for (const module of [{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }]) {
      expect(await compile(module, 'right.ts')).toBe('');
      await expect(compile(module, 'wrong.ts')).rejects.toThrow('TS2345');
    }
  });
});
