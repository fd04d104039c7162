import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bashScript, fishScript, listCommands, zshScript } from './completion.ts';
import { createProgram } from './program.ts';

const commands = listCommands(createProgram({ json: true }));
const run = promisify(execFile);

/** What bash offers after these words, the last of which is being written. */
async function offered(...words: string[]): Promise<string[]> {
  const line = ['florin', ...words].map((word) => `'${word}'`).join(' ');
  const program = `${bashScript(commands)}
COMP_WORDS=(${line})
COMP_CWORD=${words.length}
_florin
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['--norc', '-c', program]);
  return stdout.split('\n').filter((word) => word !== '');
}

test.each([
  [['pay'], ['payments', 'payment-methods', 'payouts']],
  [['payouts', 'ca'], ['cancel']],
  [
    ['payouts', 'create', '--d'],
    ['--dry-run', '--data-dir'],
  ],
  [['payouts', 'create', 'file.csv', '--submit', '--w'], ['--wait']],
  [['payouts', 'items', '--status', 'fa'], ['failed']],
  [
    ['payouts', 'create', '--network', ''],
    ['erc20', 'trc20', 'spl'],
  ],
  [['payouts', 'create', 'salaries'], []],
  [['completion', '--j'], ['--json']],
])('bash completes %j', async (words, expected) => {
  expect((await offered(...words)).toSorted()).toEqual(expected.toSorted());
});

test('every command and every option is completed in each shell', () => {
  const scripts = [bashScript(commands), zshScript(commands), fishScript(commands)];
  const names = commands.flatMap(({ path, commands, options }) => [
    path,
    ...commands.map(({ name }) => name),
    ...options.map(({ name }) => name.slice(2)),
  ]);
  expect(names.length).toBeGreaterThan(300);
  for (const script of scripts) expect(names.filter((name) => !script.includes(name))).toEqual([]);
});

for (const [shell, script, words] of [
  ['zsh', zshScript, ['-n']],
  ['fish', fishScript, ['--no-execute']],
] as const) {
  const file = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((folder) => `${folder}/${shell}`)
    .find((place) => existsSync(place));
  if (file === undefined) console.log(`skipped: ${shell} does not check its script, as it is not installed`);
  test.skipIf(file === undefined)(`${shell} reads its script`, async () => {
    const reading = run(file ?? '', [...words]);
    reading.child.stdin?.end(script(commands));
    expect((await reading).stderr).toBe('');
  });
}
