import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildSources, builtFolder, memoized } from './builds.ts';
import type { BuiltScript, Renderer, Scripts } from './renderer.ts';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** What the pages are made of. */
export const SOURCES: BuildSources = {
  packageFolder: PACKAGE,
  root: PACKAGE,
  patterns: ['package.json', 'src/**/*.{ts,tsx,css}', 'locales/*.json'],
};

/** A file that browsers load. */
export interface PageFile {
  body: Buffer;
  gzip: Buffer;
}

export interface BuiltPages extends Renderer {
  scripts: Scripts;
  /** By name. */
  files: ReadonlyMap<string, PageFile>;
}

/**
 * The pages, built when this version of them has not been built yet (about a second, once for a checkout of the code;
 * `npm run build` does it ahead of time).
 */
export const builtPages = memoized(readPages);

async function readPages(): Promise<BuiltPages> {
  const script = path.join(import.meta.dirname, 'build.ts');
  const folder = await builtFolder(path.join(PACKAGE, 'pages'), SOURCES, script);
  const files = new Map(
    readdirSync(path.join(folder, 'assets')).map((name): [string, PageFile] => {
      const body = readFileSync(path.join(folder, 'assets', name));
      return [name, { body, gzip: gzipSync(body, { level: 9 }) }];
    }),
  );
  const renderer: Renderer = await import(
    /* @vite-ignore */ pathToFileURL(path.join(folder, 'render.js')).href
  );
  const { render, renderList, renderMail, walletTexts } = renderer;
  const scripts = {
    checkout: scriptOf(files, 'checkout'),
    subscribe: scriptOf(files, 'subscribe'),
    live: scriptOf(files, 'live'),
  };
  return { scripts, files, render, renderList, renderMail, walletTexts };
}

function scriptOf(files: BuiltPages['files'], entry: keyof Scripts): BuiltScript {
  for (const [name, { body }] of files) {
    if (!name.startsWith(`${entry}-`)) continue;
    return { name, integrity: `sha384-${createHash('sha384').update(body).digest('base64')}` };
  }
  throw new Error(`the build has no script ${entry}`);
}
