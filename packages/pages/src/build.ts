import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type InlineConfig, mergeConfig, type Rolldown } from 'vite';
import { targetOf, writeBuild } from './builds.ts';
import { SOURCES } from './built-pages.ts';
import { outputOf } from './vite-output.ts';

const USAGE = `node packages/pages/src/build.ts [folder]
  Builds the pages into the folder, else where the service looks for them.`;
const target = targetOf(SOURCES, USAGE);

// Whatever the caller runs as: pages made for development are larger, and name files of this machine.
process.env.NODE_ENV = 'production';

const PACKAGE = path.resolve(import.meta.dirname, '..');
const COMMON: InlineConfig = {
  root: PACKAGE,
  configFile: false,
  envFile: false,
  logLevel: 'error',
  publicDir: false,
  // Every browser that the pages support knows `light-dark()` and nesting: nothing is rewritten for older ones.
  build: { cssMinify: 'lightningcss', cssTarget: 'esnext' },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};

async function filesOf(config: InlineConfig): Promise<Rolldown.OutputChunk[]> {
  const output = outputOf(await build(mergeConfig(COMMON, config)));
  return output.filter((file) => file.type === 'chunk');
}

/** Vite's helper fetches styles and pieces ahead of an `import()`; ours have none, and it is heavier than what it would fetch. */
const WITHOUT_PRELOAD = {
  name: 'without-preload',
  enforce: 'pre' as const,
  load: (id: string) =>
    id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load();' : undefined,
};

const source = (file: string) => path.join(PACKAGE, 'src', file);

/** Each entry is a build of its own, so that no page's script loads a piece of another's. */
const scriptOf = (name: string, file: string) =>
  filesOf({
    plugins: [WITHOUT_PRELOAD],
    build: {
      write: false,
      target: 'baseline-widely-available',
      modulePreload: false,
      rolldownOptions: {
        input: { [name]: source(file) },
        output: { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
const scripts = [
  ...(await scriptOf('checkout', 'checkout/client.tsx')),
  ...(await scriptOf('subscribe', 'subscription/wallet/client.tsx')),
  ...(await scriptOf('live', 'live/client.ts')),
];
const renderer = await filesOf({
  build: {
    write: false,
    ssr: source('render.tsx'),
    rolldownOptions: { output: { entryFileNames: 'render.js' } },
  },
  ssr: { noExternal: true },
});

writeBuild(target, (folder) => {
  mkdirSync(path.join(folder, 'assets'));
  for (const { fileName, code } of scripts) writeFileSync(path.join(folder, 'assets', fileName), code);
  for (const { fileName, code } of renderer) writeFileSync(path.join(folder, fileName), code);
});
