import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry } from './entries.ts';
import { createJournal, Journal, readJournal } from './journal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-journal-'));
let files = 0;

/** A journal with that many claims behind its first line. */
async function journalOf(claims: number): Promise<string> {
  files += 1;
  const file = path.join(folder, `${files}.journal`);
  createJournal(file, '01234567', 1);
  const journal = await Journal.open(file, { take: () => {}, dropped: () => {} });
  for (let n = 1; n <= claims; n++) journal.append(claim(n));
  await journal.close();
  return file;
}

const claim = (n: number): Entry => ({
  type: 'claim',
  at: n,
  history: `history ${n}`,
  generation: String(n),
});

async function reopened(file: string) {
  const entries: Entry[] = [];
  const dropped: number[] = [];
  const journal = await Journal.open(file, {
    take: (entry) => void entries.push(entry),
    dropped: (bytes) => void dropped.push(bytes),
  });
  return { journal, entries, dropped };
}

test('what was flushed is read back in order, and heads are known', async () => {
  const file = await journalOf(3);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { journal, entries } = await reopened(file);
  expect(entries.slice(1)).toEqual([claim(1), claim(2), claim(3)]);
  const { head } = journal;
  expect(head.entries).toBe(4);
  const next = journal.append(claim(4));
  expect(journal.knows(head) && journal.knows(next)).toBe(true);
  expect(journal.knows({ entries: 0, head: '0'.repeat(64) })).toBe(true);
  expect(journal.knows({ ...head, entries: 3 })).toBe(false);
  expect(journal.knows({ entries: 9, head: next.head })).toBe(false);
  await journal.close();
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(6);
});

test('many lines that come together are all on disk when each is told so', async () => {
  const file = await journalOf(0);
  const { journal } = await reopened(file);
  await Promise.all(
    Array.from({ length: 500 }, async (_, n) => {
      const { entries } = journal.append(claim(n));
      if (n % 7 === 0) await journal.flushed();
      else await new Promise(setImmediate).then(() => journal.flushed());
      expect(readFileSync(file, 'utf8').split('\n').length).toBeGreaterThan(entries);
    }),
  );
  await journal.close();
  let read = 0;
  expect(readJournal(file, () => void read++).torn).toBe(0);
  expect(read).toBe(501);
});

test('a last line without its end is dropped, wherever it was cut', async () => {
  const file = await journalOf(2);
  const whole = readFileSync(file);
  const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
  for (const cut of [lastLine + 1, lastLine + 20, whole.length - 1]) {
    const torn = `${file}.${cut}`;
    writeFileSync(torn, whole.subarray(0, cut), { mode: 0o600 });
    const { journal, entries, dropped } = await reopened(torn);
    expect(entries.at(-1)).toEqual(claim(1));
    expect(dropped).toEqual([cut - lastLine]);
    journal.append(claim(2));
    await journal.close();
    expect(readFileSync(torn)).toEqual(whole);
  }
});

test('any other change is found', async () => {
  const file = await journalOf(3);
  const whole = readFileSync(file, 'utf8');
  const lines = whole.split('\n');
  const changed: [string, string][] = [
    ['it is not JSON', whole.replace('"claim"', 'claim')],
    ['the line before it was changed', whole.replace('history 1', 'history 7')],
    ['it says that it is line', [lines[0], ...lines.slice(2)].join('\n')],
    ['it says that it is line', [lines[1], lines[0], ...lines.slice(2)].join('\n')],
    ['is no kind of entry', whole.replace('"type":"claim","at":3', '"type":"pay","at":3')],
    ['it is not JSON', `${whole}\u0000\u0000\n`],
  ];
  for (const [said, text] of changed) {
    writeFileSync(`${file}.bad`, text, { mode: 0o600 });
    await expect(reopened(`${file}.bad`), said).rejects.toThrow(said);
  }
  fc.assert(
    fc.property(fc.nat(whole.length - 120), fc.constantFrom('0', 'x', '"', '\n'), (at, character) => {
      fc.pre(whole[at] !== character);
      writeFileSync(`${file}.bad`, whole.slice(0, at) + character + whole.slice(at + 1), { mode: 0o600 });
      expect(() => readJournal(`${file}.bad`, () => {})).toThrow('is broken at line');
    }),
  );
});

test('a journal is opened once, by who alone may read it, and never behind another writer', async () => {
  const file = await journalOf(1);
  const { journal } = await reopened(file);
  await expect(reopened(file)).rejects.toThrow('another signer runs on this journal');
  appendFileSync(file, 'x');
  journal.append(claim(2));
  await expect(journal.flushed()).rejects.toThrow('somebody else has written');
  expect(() => journal.append(claim(3))).toThrow('somebody else has written');
  await journal.close();
  const open = await journalOf(1);
  chmodSync(open, 0o644);
  await expect(reopened(open)).rejects.toThrow(`chmod 600 ${open}`);
  await expect(reopened(`${file}.none`)).rejects.toThrow('does not exist');
  copyFileSync(file, `${file}.copy`);
  expect(() => createJournal(`${file}.copy`, '01234567', 1)).toThrow('exists and is not overwritten');
});
