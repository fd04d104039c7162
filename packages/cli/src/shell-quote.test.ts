import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellQuote } from './shell-quote.ts';

/** Texts with special shell characters, and any others without NUL. */
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '`', '!', '\n', ' ', '*', '~', '#', ';', '-', 'é', '%'),
  }),
);
const shellWords = words.map((text) => text.toWellFormed().replaceAll('\0', ''));

function readBack(command: string): string[] {
  const out = execFileSync('sh', ['-c', command], { encoding: 'utf8', maxBuffer: 1e7 });
  return out.split('\0').slice(0, -1);
}

test('a shell reads back exactly the words that were quoted', () => {
  fc.assert(
    fc.property(fc.array(shellWords, { minLength: 1, maxLength: 20 }), (list) => {
      const command = `printf '%s\\0' ${list.map(shellQuote).join(' ')}`;
      expect(readBack(command)).toEqual(list);
    }),
    { numRuns: 100 },
  );
});

test('plain words stay as they are, so that a command is easy to read', () => {
  expect(shellQuote('https://127.0.0.1:8420/api/v1/balances')).toBe('https://127.0.0.1:8420/api/v1/balances');
  expect(shellQuote('')).toBe("''");
  expect(shellQuote("it's")).toBe("'it'\\''s'");
});
