import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildSources, builtFolder, memoized } from '@florin/pages/builds';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** The repository: the site is made of its documents. */
export const ROOT = path.resolve(PACKAGE, '../..');
/** What the site is made of. */
export const SOURCES: BuildSources = {
  packageFolder: PACKAGE,
  root: ROOT,
  patterns: [
    'docs/**/*.{md,json}',
    'examples/**/*.ts',
    '{CHANGELOG,contracts/README}.md',
    'packages/contract/src/**/*.ts',
    'packages/pages/src/{builds.ts,design/tokens.css}',
    'packages/site/{package.json,src/**/*}',
  ],
};

/** The list of a build's files, in its folder. */
export const MANIFEST = 'site.json';

/** A file of the site, as the manifest has it. */
export interface SiteFile {
  /** In the folder of the build, compressed with gzip. */
  file: string;
  type: string;
  /** Short name of its content, for caches. */
  version: string;
  /** Its address changes with its content. */
  isImmutable: boolean;
}

export interface Site {
  folder: string;
  /** By path on the service, such as `/docs/payouts`. */
  files: ReadonlyMap<string, SiteFile>;
}

/**
 * The documentation site, built when this version of it has not been built yet (some seconds, once for a checkout of the
 * code; `npm run build` does it ahead of time). The files stay on disk.
 */
export const builtSite = memoized(readSite);

async function readSite(): Promise<Site> {
  const script = path.join(import.meta.dirname, 'build.ts');
  const folder = await builtFolder(path.join(PACKAGE, 'site'), SOURCES, script);
  const manifest: Record<string, SiteFile> = JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8'));
  return { folder, files: new Map(Object.entries(manifest)) };
}
