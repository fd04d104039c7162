import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DataFolder } from './data-folder.ts';

const base = mkdtempSync(path.join(tmpdir(), 'florin-data-'));
afterAll(() => rmSync(base, { recursive: true }));

const modeOf = (folder: string) => (statSync(folder).mode & 0o7777).toString(8);

test('a data folder is closed to everybody else, however open it was before', () => {
  const folder = new DataFolder(path.join(base, 'a', 'data'));
  folder.create();
  expect(modeOf(folder.path)).toBe('700');
  folder.ensureMasterKey();
  chmodSync(folder.path, 0o755);
  new DataFolder(folder.path).create();
  expect(modeOf(folder.path)).toBe('700');
  expect(modeOf(folder.file('master.key'))).toBe('600');
});

test.skipIf(process.getuid?.() !== 0)(
  'as root the group of the account that PostgreSQL runs under passes through',
  () => {
    const folder = new DataFolder(path.join(base, 'of-root'));
    folder.create(65_534);
    expect([modeOf(folder.path), statSync(folder.path).gid]).toEqual(['710', 65_534]);
  },
);

test('a folder of others is left as it is', () => {
  const shared = path.join(base, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  const folder = new DataFolder(shared);
  folder.create();
  folder.ensureMasterKey();
  folder.create();
  expect(modeOf(shared)).toBe('1777');
});
