import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rolldown } from 'tsdown';
import { writeBuild } from '../packages/pages/src/builds.ts';
import { wordsOf } from '../packages/pages/src/words.ts';
import { ROOT } from './step.ts';

const USAGE = `node scripts/run.js scripts/bundle-programs.ts <folder>
  Bundles the programs that tests start by the hundred into the folder (test/programs.ts), and removes old bundles beside it.`;
const [named = ''] = wordsOf(USAGE, [1, 1]);
const target = path.resolve(named);

const WEEK_MS = 7 * 86_400_000;

/** Code finds the files beside it where it was written. */
const whereItWas: Rolldown.Plugin = {
  name: 'where-it-was',
  transform: (code, file) => {
    if (!file.startsWith(`${ROOT}/`) || file.includes('node_modules') || !code.includes('import.meta.'))
      return;
    return code
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
      .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)));
  },
};

/** They bring files beside their code, so they stay packages. */
const UNBUNDLED = ['tiny-secp256k1'];

const bundle = async (folder: string): Promise<void> => {
  await build({
    config: false,
    cwd: ROOT,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    fixedExtension: false,
    entry: {
      main: path.join(ROOT, 'packages/cli/src/main.ts'),
      'node-process': path.join(ROOT, 'test/faults/node-process.ts'),
    },
    outDir: folder,
    target: 'node22',
    plugins: [whereItWas],
    deps: { alwaysBundle: [/.*/], neverBundle: UNBUNDLED },
  });
};

/** The name that `folderOfBuild` gives, and that of a bundle that was cut off: nothing else beside them is ours to remove. */
const BUNDLE = /^[0-9a-f]{16}(?:\.|$)/;

function removeOld(builds: string): void {
  for (const name of readdirSync(builds).filter((one) => BUNDLE.test(one))) {
    const one = path.join(builds, name);
    if (Date.now() - statSync(one).mtimeMs > WEEK_MS) rmSync(one, { recursive: true, force: true });
  }
}

mkdirSync(path.dirname(target), { recursive: true });
removeOld(path.dirname(target));
const code = `${target}.code.${process.pid}`;
await bundle(code);
writeBuild(target, (unfinished) => {
  renameSync(code, path.join(unfinished, 'lib'));
  const command = readFileSync(path.join(ROOT, 'packages/cli/bin/florin.js'), 'utf8');
  mkdirSync(path.join(unfinished, 'bin'));
  const file = path.join(unfinished, 'bin', 'florin.js');
  writeFileSync(path.join(unfinished, 'package.json'), '{"type":"module"}\n');
  writeFileSync(file, command.replace("'../src/main.ts'", "'../lib/main.js'"));
});
