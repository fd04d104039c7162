import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** Runs a program and returns what it printed; its error has that too. */
export async function output(
  folder: string,
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const run = promisify(execFile)(program, [...words], { cwd: folder, env, maxBuffer: 2 ** 26 });
  const { stdout } = await run.catch((error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${program} ${words.join(' ')}: ${error.stdout ?? ''}${error.stderr ?? ''}`, {
      cause: error,
    });
  });
  return stdout;
}

/** Packs a package as it would be published. @returns the tarball, and the files in it */
export async function pack(folder: string, to: string): Promise<{ tarball: string; files: string[] }> {
  const printed = await output(folder, 'npm', ['pack', '--json', '--pack-destination', to]);
  const [packed] = JSON.parse(printed) as { filename: string; files: { path: string }[] }[];
  if (packed === undefined) throw new Error('npm packed nothing');
  return { tarball: path.join(to, packed.filename), files: packed.files.map((file) => file.path) };
}

/** An empty folder outside the repository, with packages installed as a user installs them. */
export async function installed(...packages: readonly string[]): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-shop-'));
  writeFileSync(path.join(folder, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
  await output(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages]);
  return folder;
}

/** The packages in a folder's `node_modules`, by name. */
export async function packagesIn(folder: string): Promise<string[]> {
  const tree = JSON.parse(await output(folder, 'npm', ['ls', '--all', '--json'])) as Tree;
  return [...new Set(namesIn(tree))].toSorted();
}

interface Tree {
  dependencies?: Record<string, Tree>;
}

function namesIn({ dependencies = {} }: Tree): string[] {
  return Object.entries(dependencies).flatMap(([name, below]) => [name, ...namesIn(below)]);
}

/** Packages are installed as a user does it, from npm's registry. Says why where it cannot be reached. */
export async function isRegistryReachable(): Promise<boolean> {
  try {
    await output(tmpdir(), 'npm', [
      'view',
      'typescript',
      'version',
      '--fetch-retries=1',
      '--fetch-timeout=20000',
    ]);
    return true;
  } catch {
    console.warn(
      'skipped: npm’s registry is not reachable, so packages cannot be installed in an empty folder',
    );
    return false;
  }
}
