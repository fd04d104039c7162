// Builds the console's application into the folder that is named, else where the service looks for it.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { folderOfBuild, writeBuild } from '@florin/pages/builds';
import { outputOf } from '@florin/pages/vite-output';
import { build, type Rolldown } from 'vite';
import { type ConsoleFile, MANIFEST, SOURCES } from './built-console.ts';

// Whatever the caller runs as: code made for development is larger, and names files of this machine.
process.env.NODE_ENV = 'production';

const BASE = '/console/';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const built = await build({
  root: path.join(import.meta.dirname, 'app'),
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
      output: { entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js' },
    },
  },
});
const output = outputOf(built);

const textOf = (file: Rolldown.OutputChunk | Rolldown.OutputAsset) =>
  Buffer.from(file.type === 'chunk' ? file.code : file.source);
const versionOf = (text: Buffer) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const page = output.find(({ fileName }) => fileName === 'index.html');
if (page === undefined) throw new Error('the build has no page');
const html = textOf(page).toString();

writeBuild(process.argv[2] ?? folderOfBuild(SOURCES), (folder) => {
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
  writeFileSync(path.join(folder, MANIFEST), JSON.stringify({ html, files }));
});
