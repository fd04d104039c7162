import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { targetOf, writeBuild } from '@florin/pages/builds';
import { outputOf } from '@florin/pages/vite-output';
import { build, type Rolldown } from 'vite';
import { type ConsoleFile, MANIFEST, SOURCES, START } from './built-console.ts';

const USAGE = `node packages/console/src/build.ts [folder]
  Builds the console's application into the folder, else where the service looks for it.`;
const target = targetOf(SOURCES, USAGE);

// Whatever the caller runs as: code made for development is larger, and names files of this machine.
process.env.NODE_ENV = 'production';

const BASE = '/console/';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const APP = path.join(import.meta.dirname, 'app');
const MAIN = path.join(APP, 'main.tsx');
const AHEAD = path.join(APP, 'ahead.ts');

type Context = Parameters<Rolldown.CodeSplittingNameFunction>[1];
let start: ReadonlySet<string> | undefined;
/** The modules that run before any page: those that a module imports, and so on. */
function closureOf(module: string, context: Context, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(module)) return found;
  found.add(module);
  for (const imported of context.getModuleInfo(module)?.importedIds ?? [])
    closureOf(imported, context, found);
  return found;
}
/** Modules that need one, from which on it comes with every page: a list is, what two pages have in common is not. */
const SHARED_BY = 5;
const shared = new Map<string, boolean>();
/** Whether most pages need a module, or only modules that they share do. */
function isShared(module: string, context: Context): boolean {
  const known = shared.get(module);
  if (known !== undefined) return known;
  // Also ends a circle of modules that need each other.
  shared.set(module, false);
  const importers = context.getModuleInfo(module)?.importers ?? [];
  const areShared = () => importers.length > 0 && importers.every((one) => isShared(one, context));
  const is = importers.length >= SHARED_BY || areShared();
  shared.set(module, is);
  return is;
}
/** One file for the start and one for what most pages share: each further one costs a browser as much time as code of 10 kB. */
function fileOf(module: string, context: Context): string | null {
  if (module === AHEAD) return null;
  start ??= closureOf(MAIN, context);
  if (start.has(module)) return 'start';
  return isShared(module, context) ? 'shared' : null;
}

const built = await build({
  root: APP,
  base: BASE,
  configFile: false,
  envFile: false,
  logLevel: 'error',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'react' } },
  build: {
    write: false,
    target: 'baseline-widely-available',
    // Every browser that the console supports knows `light-dark()` and nesting.
    cssMinify: 'lightningcss',
    cssTarget: 'esnext',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: [path.join(APP, 'index.html'), AHEAD],
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        codeSplitting: { groups: [{ name: fileOf }], includeDependenciesRecursively: false },
      },
    },
  },
});
const output = outputOf(built);

const textOf = (file: Rolldown.OutputChunk | Rolldown.OutputAsset) =>
  Buffer.from(file.type === 'chunk' ? file.code : file.source);
const versionOf = (text: Buffer) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const page = output.find(({ fileName }) => fileName === 'index.html');
if (page === undefined) throw new Error('the build has no page');
const chunks = new Map(
  output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])),
);
const ahead = [...chunks.values()].find(({ facadeModuleId }) => facadeModuleId === AHEAD);
if (ahead === undefined || ahead.imports.length > 0)
  throw new Error('what runs ahead is not a file of its own');
const html = textOf(page)
  .toString()
  .replace(START, `${START}<script type="module" async crossorigin src="${BASE}${ahead.fileName}"></script>`);
if (!html.includes(ahead.fileName)) throw new Error('the page has no place for what runs ahead');

/** The files that a file needs, without those that the start loads. */
function filesOf(fileName: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(fileName) || html.includes(`${BASE}${fileName}`)) return found;
  found.add(fileName);
  for (const imported of chunks.get(fileName)?.imports ?? []) filesOf(imported, found);
  return found;
}

/** By the module of a page, such as `operator/health`. */
const pages: Record<string, string[]> = {};
for (const { facadeModuleId, isDynamicEntry, fileName } of chunks.values()) {
  if (!isDynamicEntry || facadeModuleId === null) continue;
  const name = path.relative(path.join(APP, 'pages'), facadeModuleId).replace(/\.tsx$/, '');
  pages[name] = [...filesOf(fileName)].map((file) => `${BASE}${file}`);
}

writeBuild(target, (folder) => {
  const files: Record<string, ConsoleFile> = {};
  for (const file of output) {
    const type = TYPES[path.extname(file.fileName)];
    if (file === page) continue;
    if (type === undefined) throw new Error(`nobody serves ${file.fileName}`);
    const text = textOf(file);
    const packed = gzipSync(text, { level: 9 });
    const name = `${file.fileName.replaceAll('/', '~')}.gz`;
    const address = `${BASE}${file.fileName}`;
    const isOfStart = html.includes(address);
    files[address] = { file: name, type, version: versionOf(text), size: packed.length, isOfStart };
    writeFileSync(path.join(folder, name), packed);
  }
  writeFileSync(path.join(folder, MANIFEST), JSON.stringify({ html, files, pages }));
});
