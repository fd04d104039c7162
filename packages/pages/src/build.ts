// Builds the payer's page into the folder that is named, else where the service looks for it.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type InlineConfig, type Rolldown } from 'vite';
import { folderOf } from './built-page.ts';

const PACKAGE = path.resolve(import.meta.dirname, '..');
const COMMON: InlineConfig = {
  root: PACKAGE,
  configFile: false,
  envFile: false,
  logLevel: 'error',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};

async function filesOf(config: InlineConfig): Promise<Rolldown.OutputChunk[]> {
  const { output } = (await build({ ...COMMON, ...config })) as Rolldown.RolldownOutput;
  return output.filter((file) => file.type === 'chunk');
}

const page = (file: string) => path.join(PACKAGE, 'src', 'page', file);
const script = await filesOf({
  build: {
    write: false,
    target: 'baseline-widely-available',
    modulePreload: false,
    rolldownOptions: {
      input: { client: page('client.tsx') },
      output: { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
const renderer = await filesOf({
  build: {
    write: false,
    ssr: page('render.tsx'),
    rolldownOptions: { output: { entryFileNames: 'render.js' } },
  },
  ssr: { noExternal: true },
});

const folder = process.argv[2] ?? folderOf();
// Whoever looks meanwhile sees nothing or all of it; of two who build at once one is too late.
const making = `${folder}.${process.pid}`;
mkdirSync(path.join(making, 'assets'), { recursive: true });
for (const { fileName, code } of script) writeFileSync(path.join(making, 'assets', fileName), code);
for (const { fileName, code } of renderer) writeFileSync(path.join(making, fileName), code);
try {
  renameSync(making, folder);
} catch (error) {
  rmSync(making, { recursive: true });
  if (!existsSync(folder)) throw error;
}
