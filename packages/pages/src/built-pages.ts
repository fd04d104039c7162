import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { BuiltScript, Renderer, Scripts } from './renderer.ts';

const PACKAGE = path.resolve(import.meta.dirname, '..');
/** What a build is made of. Its name is the hash of them all, so an old build is never taken for a new version. */
const SOURCES = ['package.json', 'src/**/*.{ts,tsx,css}', 'locales/*.json'];
const isTest = (file: string) => file.endsWith('.test.ts');

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

let built: Promise<BuiltPages> | undefined;

/**
 * The pages, built when this version of them has not been built yet (about a second, once for a checkout of the code;
 * `npm run build` does it ahead of time).
 */
export function builtPages(): Promise<BuiltPages> {
  built ??= build().catch((error: unknown) => {
    built = undefined;
    throw error;
  });
  return built;
}

async function build(): Promise<BuiltPages> {
  const published = path.join(PACKAGE, 'pages');
  const folder = existsSync(published) ? published : folderOf();
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
  const renderer: Renderer = await import(
    /* @vite-ignore */ pathToFileURL(path.join(folder, 'render.js')).href
  );
  const { render, renderList, renderMail } = renderer;
  const scripts = { checkout: scriptOf(files, 'checkout'), live: scriptOf(files, 'live') };
  return { scripts, files, render, renderList, renderMail };
}

function scriptOf(files: BuiltPages['files'], entry: keyof Scripts): BuiltScript {
  for (const [name, { body }] of files) {
    if (!name.startsWith(`${entry}-`)) continue;
    return { name, integrity: `sha384-${createHash('sha384').update(body).digest('base64')}` };
  }
  throw new Error(`the build has no script ${entry}`);
}

/** The folder of the build of these sources. */
export function folderOf(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: PACKAGE }));
  for (const file of files.filter((one) => !isTest(one)).toSorted()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(PACKAGE, file)))
      .update('\0');
  }
  return path.join(PACKAGE, 'dist', hash.digest('hex').slice(0, 16));
}
