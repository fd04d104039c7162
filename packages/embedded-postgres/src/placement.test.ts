import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canEnter, NOBODY } from './account.ts';
import { nativeFolder, prepareBinaries } from './binaries.ts';
import { placeData } from './placement.ts';

const isRoot = process.getuid?.() === 0;

let base: string;
let stateFolder: string;
let closed: string;

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'florin-placement-'));
  await chmod(base, 0o755);
  stateFolder = path.join(base, 'state');
  closed = path.join(base, 'closed-home');
  await mkdir(closed, { mode: 0o700 });
});

afterEach(() => rm(base, { recursive: true, force: true }));

test('data is in the requested folder', async () => {
  const { layout } = await placeData(path.join(base, 'data'), stateFolder);
  expect(layout.folder).toBe(path.join(base, 'data'));
});

test.runIf(isRoot)('as root, data moves out of a closed home and leaves nothing there', async () => {
  const { layout, account } = await placeData(path.join(closed, 'a', 'data'), stateFolder);
  expect(path.dirname(layout.folder)).toBe(stateFolder);
  expect(await canEnter(account, layout.folder)).toBe(true);
  expect(await readdir(closed)).toEqual([]);
});

test.runIf(isRoot)(
  'as root, data that once moved out stays where it is when the home is opened',
  async () => {
    const requested = path.join(closed, 'data');
    const { layout } = await placeData(requested, stateFolder);
    await mkdir(layout.cluster);
    await chmod(closed, 0o755);
    expect((await placeData(requested, stateFolder)).layout.folder).toBe(layout.folder);
  },
);

test.runIf(isRoot)('as root, data that its owner can no longer reach is not passed over', async () => {
  const requested = path.join(closed, 'data');
  await mkdir(path.join(requested, 'cluster'), { recursive: true });
  await expect(placeData(requested, stateFolder)).rejects.toThrow(/cannot be reached by its owner/);
});

test.runIf(isRoot)('as root, programs in a closed home are copied once to where they can run', async () => {
  const carrier = path.join(closed, 'package');
  const native = path.join(carrier, 'native');
  const links = (file: string) => !/\.so(\.\d+)?$/.test(file);
  // Without its links and for root's eyes only: an install with scripts blocked and a strict umask.
  await cp(nativeFolder(18), native, { recursive: true, verbatimSymlinks: true, filter: links });
  await cp(path.join(nativeFolder(18), '..', 'package.json'), path.join(carrier, 'package.json'));
  const first = await prepareBinaries(native, NOBODY, stateFolder);
  expect(first.postgres.startsWith(stateFolder)).toBe(true);
  const { ino } = await stat(first.postgres);
  const second = await prepareBinaries(native, NOBODY, stateFolder);
  expect(second).toEqual(first);
  expect((await stat(second.postgres)).ino).toBe(ino);
});
