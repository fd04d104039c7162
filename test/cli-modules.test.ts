import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FLORIN_SOURCE } from './programs.ts';

/** Writes the address of every module that is loaded to a fourth stream. */
const LISTED = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load: (url, context, next) => {
      writeSync(3, url + '\\n');
      return next(url, context);
    },
  });`)}`;

/** What a command loads that finds nobody to answer it. */
function loadedBy(words: readonly string[]): string[] {
  const { output, status } = spawnSync(process.execPath, ['--import', LISTED, FLORIN_SOURCE, ...words], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      FLORIN_BASE_URL: 'http://127.0.0.1:1',
      FLORIN_API_KEY: 'fl_test_key',
      FLORIN_SECRET_KEY: 'secret',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      FLORIN_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    maxBuffer: 10_000_000,
  });
  expect(status, output[2] ?? '').toBe(words.includes('--help') ? 0 : 1);
  return (output[3] ?? '').split('\n').filter((url) => url !== '');
}

const ofServer = (urls: readonly string[]) => urls.filter((url) => url.includes('/packages/server/'));

test.each([[['payments', 'list']], [['stores', '--help']]])(
  'florin %j loads nothing of the server: it starts in a third of the time',
  (words) => {
    const loaded = loadedBy(words);
    expect(loaded.length).toBeGreaterThan(100);
    expect(ofServer(loaded)).toEqual([]);
  },
);

test('an operator’s command does load it', () => {
  expect(ofServer(loadedBy(['stores', 'list'])).length).toBeGreaterThan(100);
});
