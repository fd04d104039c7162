import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { wordsOf } from './words.ts';

// What browsers get is built from its sources once: by `npm run build`, or at the first need. A package that is published
// has its build in it.

export interface BuildSources {
  /** The folder of the package; builds are in `dist` there. */
  packageFolder: string;
  /** Where the patterns start. */
  root: string;
  /** Globs of everything that the build is made of, tests left out. */
  patterns: readonly string[];
}

const isSource = (file: string) => !file.includes('node_modules') && !file.endsWith('.test.ts');

/** The folder of the build of these sources. Its name is the hash of them all: an old build is never taken for a new one. */
export function folderOfBuild({ packageFolder, root, patterns }: BuildSources): string {
  const hash = createHash('sha256');
  const files = patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  for (const file of files.filter(isSource).toSorted()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(root, file)))
      .update('\0');
  }
  return path.join(packageFolder, 'dist', hash.digest('hex').slice(0, 16));
}

/** Where a program builds: the folder that its command line names, else where the service looks for the build. */
export function targetOf(sources: BuildSources, usage: string): string {
  const [named] = wordsOf(usage, [0, 1]);
  return named === undefined ? folderOfBuild(sources) : path.resolve(named);
}

/**
 * The folder of a finished build: `published` if it is there, else that of the sources, built by the program `script` if it
 * is missing. The program runs in a process of its own: a bundler takes memory that a server would never get back.
 */
export async function builtFolder(published: string, sources: BuildSources, script: string): Promise<string> {
  if (existsSync(published)) return published;
  const folder = folderOfBuild(sources);
  if (!existsSync(folder)) await promisify(execFile)(process.execPath, [script, folder]);
  return folder;
}

/** Makes it at the first call and keeps it. After a failure the next call tries again. */
export function memoized<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/**
 * Writes a build. `write` fills another folder, which is renamed at the end: a reader sees nothing or all of it, and of two
 * that build at once the later one gives way.
 */
export function writeBuild(folder: string, write: (unfinished: string) => void): void {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  write(unfinished);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}
