import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './built-site.ts';
import { errorCodes } from './errors.ts';

test('docs/errors.md has the table of codes', () => {
  const page = readFileSync(path.join(ROOT, 'docs/errors.md'), 'utf8');
  const table = page.split('\n').filter((line) => /^\| \d/.test(line));
  expect(table).toEqual(
    errorCodes().map(({ status, code, title }) => `| ${status} | \`${code}\` | ${title} |`),
  );
});
