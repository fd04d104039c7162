import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** The repository: the site is made of its documents. */
export const ROOT = path.resolve(PACKAGE, '../..');
/** What a build is made of. Its name is the hash of them all, so an old build is never taken for a new version. */
const SOURCES = [
  'docs/**/*.{md,json}',
  'examples/**/*.ts',
  '{CHANGELOG,contracts/README}.md',
  'packages/contract/src/**/*.ts',
  'packages/pages/src/design/tokens.css',
  'packages/site/{package.json,src/**/*}',
];
const isSource = (file: string) => !file.includes('node_modules') && !file.endsWith('.test.ts');

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

let built: Promise<Site> | undefined;

/**
 * The documentation site, built when this version of it has not been built yet (some seconds, once for a checkout of the
 * code; `npm run build` does it ahead of time). The files stay on disk.
 */
export function builtSite(): Promise<Site> {
  built ??= build().catch((error: unknown) => {
    built = undefined;
    throw error;
  });
  return built;
}

async function build(): Promise<Site> {
  const published = path.join(PACKAGE, 'site');
  const folder = existsSync(published) ? published : folderOf();
  // In a process of its own: generator and bundler take memory that a server would never get back.
  if (!existsSync(folder)) {
    await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'build.ts'), folder]);
  }
  const manifest: Record<string, SiteFile> = JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8'));
  return { folder, files: new Map(Object.entries(manifest)) };
}

/** The folder of the build of these sources. */
export function folderOf(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
  for (const file of files.filter(isSource).toSorted()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  }
  return path.join(PACKAGE, 'dist', hash.digest('hex').slice(0, 16));
}
