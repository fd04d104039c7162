import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './step.ts';

const WORDS = path.join(ROOT, 'packages/pages/src/words.ts');

/** Runs in a folder of its own. @returns what was said, how it ended, and what is in the folder then */
function run(args: readonly string[]) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'florin-program-'));
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { status, stdout, stderr, made: readdirSync(cwd) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const program = `
  import { wordsOf } from ${JSON.stringify(WORDS)};
  console.log(JSON.stringify(wordsOf('the usage', [1, 2])));`;
const words = (...given: string[]) => run(['--input-type=module', '--eval', program, '--', ...given]);

test('a program without options takes its words, says what it does, and refuses the rest', () => {
  expect(words('a')).toMatchObject({ status: 0, stdout: '["a"]\n' });
  expect(words('a', 'b')).toMatchObject({ status: 0, stdout: '["a","b"]\n' });
  expect(words('--help')).toMatchObject({ status: 0, stdout: 'the usage\n' });
  for (const wrong of [[], ['a', 'b', 'c'], ['--hepl'], ['a', '-x']])
    expect(words(...wrong)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('the usage'),
    });
});

test('no option is taken for the folder of a build', () => {
  const { stdout, ...ended } = run([path.join(ROOT, 'packages/site/src/build.ts'), '--help']);
  expect(ended).toMatchObject({ status: 0, made: [] });
  expect(stdout).toContain('[folder]');
});

test('every program that people call reads its command line by one of two ways', () => {
  const files = globSync(['scripts/*.ts', 'bench/*.ts', 'packages/*/src/build.ts'], { cwd: ROOT });
  const programs = files
    .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }))
    .filter(({ file, text }) => !file.endsWith('.test.ts') && !/^export /m.test(text));
  expect(programs.length).toBeGreaterThan(15);
  const isRead = /\b(?:wordsOf|targetOf|parseArgs|readOptions)\(/;
  // What is given to `npm test` goes to vitest.
  const others = programs.filter(({ text }) => !isRead.test(text)).map(({ file }) => file);
  expect(others).toEqual(['scripts/test.ts']);
});
