import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { testAddresses } from '../packages/server/src/chains/index.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');

test('the two commands are the first that a reader sees', () => {
  const [first] = /```sh.*\n([\s\S]*?)```/.exec(readme)?.slice(1) ?? [];
  expect(first?.split('\n').map((line) => line.split('#')[0]?.trim())).toEqual([
    'npm ci && npm start',
    'npm ci && npm test',
    '',
  ]);
});

test("the first payout uses the sandbox's own test addresses", () => {
  const { succeed, fail } = testAddresses('trc20');
  const addresses = [...readme.matchAll(/"address": "(T[^"]+)"/g)].map((match) => match[1]);
  expect(addresses).toEqual([succeed, fail, succeed]);
});

test('every page that the readme leads to is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? '');
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) expect(() => readFileSync(path.join(ROOT, link)), link).not.toThrow(/ENOENT/);
});
