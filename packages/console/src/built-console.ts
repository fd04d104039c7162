import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildSources, builtFolder, memoized } from '@florin/pages/builds';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** What the application is made of. */
export const SOURCES: BuildSources = {
  packageFolder: PACKAGE,
  root: path.resolve(PACKAGE, '..'),
  patterns: ['console/{package.json,src/**/*}', 'contract/src/*.ts'],
};

/** The list of a build's files, in its folder. */
export const MANIFEST = 'console.json';

/** A file of the application, as the manifest has it. */
export interface ConsoleFile {
  /** In the folder of the build, compressed with gzip. */
  file: string;
  type: string;
  /** Short name of its content, for caches. */
  version: string;
  /** Bytes, compressed. */
  size: number;
  /** Loaded before any page is shown. */
  isOfStart: boolean;
}

/** Where the service puts what the application begins with. */
export const START = '<script type="application/json" id="start"></script>';

export interface BuiltConsole {
  folder: string;
  /** The page of every address; the placeholder `NONCE` stands for a nonce of styles, `START` for what the application begins with. */
  html: string;
  /** Files of the pages that are loaded after the start, by the name of their module, such as `operator/health`. */
  pages: ReadonlyMap<string, readonly string[]>;
  /** By path on the service, such as `/console/assets/main-abc.js`. */
  files: ReadonlyMap<string, ConsoleFile>;
}

interface Manifest {
  html: string;
  files: Record<string, ConsoleFile>;
  pages: Record<string, string[]>;
}

/**
 * The application, built when this version of it has not been built yet (some seconds, once for a checkout of the code;
 * `npm run build` does it ahead of time). The files stay on disk.
 */
export const builtConsole = memoized(readConsole);

async function readConsole(): Promise<BuiltConsole> {
  const script = path.join(import.meta.dirname, 'build.ts');
  const folder = await builtFolder(path.join(PACKAGE, 'console'), SOURCES, script);
  const { html, files, pages }: Manifest = JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8'));
  return { folder, html, files: new Map(Object.entries(files)), pages: new Map(Object.entries(pages)) };
}
