import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type InlineConfig } from 'tsdown';
import { ROOT } from './step.ts';

/** Where packages are made as they are published, one folder each. */
export const PUBLISHED = path.join(ROOT, 'dist', 'packages');

/** What a package is made of besides its code. */
interface Manifest {
  name: string;
  version: string;
  [field: string]: unknown;
}

const manifestOf = (folder: string): Manifest =>
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
 * Makes `@florin/sdk`: one file of JavaScript and one of types, which need nothing but Node.
 *
 * @returns its folder
 */
export async function makeSdk(published = PUBLISHED): Promise<string> {
  const folder = path.join(published, 'sdk');
  await build({
    ...COMMON,
    entry: [path.join(ROOT, 'packages/sdk/src/index.ts')],
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
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    files: ['index.js', 'index.d.ts'],
  });
  copyFileSync(path.join(ROOT, 'packages/sdk/README.md'), path.join(folder, 'README.md'));
  return folder;
}

function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
}
