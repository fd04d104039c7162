import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Renderer } from './renderer.ts';

export type { PageData, RenderedPage, Renderer } from './renderer.ts';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** What a build is made of; its name is the hash of them all, so that an old build is never taken for a new page. */
const SOURCES = [
  'package.json',
  'src/{build,renderer}.ts',
  'src/page/**/*.{ts,tsx}',
  'locales/*.json',
  '../contract/src/checkout-page.ts',
];

/** A file that browsers load. */
export interface PageFile {
  body: Buffer;
  gzip: Buffer;
}

export interface BuiltPage extends Renderer {
  /** Name of the script that the page begins with, and the hash that browsers check it by. */
  script: { name: string; integrity: string };
  files: ReadonlyMap<string, PageFile>;
}

let built: Promise<BuiltPage> | undefined;

/**
 * The payer's page, built when this version of it has not been built yet (about a second, once for a checkout of the
 * code; `npm run build` does it ahead of time).
 */
export function builtPage(): Promise<BuiltPage> {
  built ??= build().catch((error: unknown) => {
    built = undefined;
    throw error;
  });
  return built;
}

async function build(): Promise<BuiltPage> {
  const folder = folderOf();
  // In a process of its own: a bundler takes memory that a server would never get back.
  if (!existsSync(folder)) {
    await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'build.ts'), folder]);
  }
  const files = new Map(
    readdirSync(path.join(folder, 'assets')).map((name): [string, PageFile] => {
      const body = readFileSync(path.join(folder, 'assets', name));
      return [name, { body, gzip: gzipSync(body, { level: 9 }) }];
    }),
  );
  const [name = ''] = [...files.keys()].filter((file) => file.startsWith('client-'));
  const digest = createHash('sha384')
    .update(files.get(name)?.body ?? '')
    .digest('base64');
  const renderer: Renderer = await import(
    /* @vite-ignore */ pathToFileURL(path.join(folder, 'render.js')).href
  );
  const { render, say } = renderer;
  return { script: { name, integrity: `sha384-${digest}` }, files, render, say };
}

/** Where the build of these sources lies. */
export function folderOf(): string {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: PACKAGE })).toSorted()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(PACKAGE, file)))
      .update('\0');
  }
  return path.join(PACKAGE, 'dist', hash.digest('hex').slice(0, 16));
}
