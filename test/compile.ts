import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Compiles files of a folder as strictly as a shop may. @returns what the compiler says; empty: they are sound */
export async function compile(folder: string, files: readonly string[]): Promise<string> {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: 'esnext',
    lib: ['esnext', 'esnext.disposable', 'dom', 'dom.asynciterable'],
    module: 'nodenext',
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    types: ['node'],
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const said = await promisify(execFile)(tsc, ['--pretty', 'false', '-p', folder], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return said.stdout;
}
