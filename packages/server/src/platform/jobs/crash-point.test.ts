import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const MODULE = path.join(import.meta.dirname, 'crash-point.ts');
const PROGRAM = `
  const { crashPoint } = await import(${JSON.stringify(MODULE)});
  for (const name of ['here', 'there', 'there']) { crashPoint(name); console.log(name); }`;

/** Passes `here`, `there` and `there` in a process of its own. */
function pass(env: Record<string, string>) {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout, signal } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return { passed: stdout.split('\n').filter(Boolean), signal };
}

test('a test build dies at the chosen pass', () => {
  const at = (point: string) => pass({ FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point });
  expect(at('here')).toEqual({ passed: [], signal: 'SIGKILL' });
  expect(at('there:2')).toEqual({ passed: ['here', 'there'], signal: 'SIGKILL' });
  expect(at('there:3').signal).toBeNull();
});

test('any other build ignores crash points, whatever the environment says', () => {
  const all = { passed: ['here', 'there', 'there'], signal: null };
  expect(pass({})).toEqual(all);
  expect(pass({ FLORIN_CRASH_POINT: 'here' })).toEqual(all);
  expect(pass({ FLORIN_TEST_BUILD: 'true', FLORIN_CRASH_POINT: 'here' })).toEqual(all);
});
