import { expect, test } from 'vitest';
import { type Candidate, findObstacles, notesOf } from './release-rules.ts';

const READY: Candidate = {
  versions: new Map([
    ['florin', '1.2.3'],
    ['@florin/sdk', '1.2.3'],
  ]),
  changelog:
    '# Changelog\n\n## Unreleased\n\n## 1.2.3 (2027-01-02)\n\n- It pays.\n\n## 1.2.2\n\n- It starts.\n',
  uncommitted: [],
  findings: [],
};

test('what is ready has no obstacle, and its notes are those under its heading alone', () => {
  expect(findObstacles(READY)).toEqual([]);
  expect(notesOf(READY.changelog, '1.2.3')?.trim()).toBe('- It pays.');
});

test.each<[string, Partial<Candidate>, string]>([
  [
    'two versions',
    { versions: new Map([...READY.versions, ['@florin/server', '1.2.2']]) },
    'different versions',
  ],
  ['no version', { versions: new Map([['florin', 'next']]) }, 'next is no version'],
  ['no heading', { changelog: '# Changelog\n\n## Unreleased\n\n- It pays.\n' }, 'no heading "## 1.2.3"'],
  ['a heading that begins the same', { changelog: '## 1.2.30\n\n- It pays.\n' }, 'no heading "## 1.2.3"'],
  ['nothing said', { changelog: '## 1.2.3\n\n## 1.2.2\n\n- It starts.\n' }, 'says nothing'],
  ['files that are not committed', { uncommitted: ['a.ts'] }, 'not everything is committed: a.ts'],
  ['findings', { findings: ['florin: no README'] }, 'florin: no README'],
])('%s stops a release', (_name, change, line) => {
  expect(findObstacles({ ...READY, ...change }).join('\n')).toContain(line);
});
