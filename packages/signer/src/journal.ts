import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { Entry } from './entries.ts';
import { codeOf } from './files.ts';
import { writeNew } from './key-file.ts';
import { takeLock } from './lock.ts';
import { SignerMistake } from './mistake.ts';
import type { JournalHead } from './protocol.ts';

/** Before the first line. */
const NO_HEAD = '0'.repeat(64);
const DIGEST_BYTES = 32;
const CHUNK_BYTES = 1_048_576;
const NEWLINE = 10;
const TYPES: readonly string[] = [
  'open',
  'start',
  'sign',
  'sign_once',
  'claim',
  'epoch',
  'freeze',
  'unfreeze',
] satisfies Entry['type'][];

const broken = (file: string, line: number, what: string) =>
  new SignerMistake(
    'journal',
    `the journal ${file} is broken at line ${line}: ${what}. Nothing is signed with it; see docs/signer.md, "A lost or broken journal".`,
  );

const digestOf = (line: Uint8Array) => createHash('sha256').update(line).digest();

/** The journal cannot be written: the process must end, as its memory is ahead of what is on disk. */
export class JournalFailure extends Error {}

/** The digests of all lines, 32 bytes each. */
class Heads {
  #bytes = Buffer.alloc(DIGEST_BYTES * 1_024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(digest: Uint8Array): void {
    const at = this.#count * DIGEST_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(at)]);
    this.#bytes.set(digest, at);
    this.#count += 1;
  }

  /** Hex, after so many lines; undefined where there are fewer. */
  at(count: number): string | undefined {
    if (count === 0) return NO_HEAD;
    if (count > this.#count) return undefined;
    return this.#bytes.toString('hex', (count - 1) * DIGEST_BYTES, count * DIGEST_BYTES);
  }
}

interface Read {
  heads: Heads;
  /** Bytes of all whole lines. */
  size: number;
  /** Bytes behind them: a line whose writing was cut off. */
  torn: number;
}

/**
 * Reads a journal from its first line: each names the digest of the one before.
 *
 * @throws SignerMistake at the first line that does not
 */
export function readJournal(file: string, take: (entry: Entry) => void): Read {
  const heads = new Heads();
  let size = 0;
  let torn = 0;
  for (const { bytes, isWhole } of linesOf(file)) {
    if (!isWhole) {
      torn = bytes.length;
      break;
    }
    const number = heads.count + 1;
    const entry = entryOf(bytes, { file, number, head: heads.at(heads.count) ?? NO_HEAD });
    try {
      take(entry);
    } catch (error) {
      throw error instanceof SignerMistake ? error : broken(file, number, 'it lacks something');
    }
    heads.push(digestOf(bytes));
    size += bytes.length + 1;
  }
  return { heads, size, torn };
}

function entryOf(
  bytes: Uint8Array,
  { file, number, head }: { file: string; number: number; head: string },
): Entry {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw broken(file, number, 'it is not JSON');
  }
  const { n, prev, type, ...rest } = { n: 0, prev: '', type: '', ...(value as object) };
  if (n !== number) throw broken(file, number, `it says that it is line ${n}`);
  if (prev !== head) throw broken(file, number, 'the line before it was changed or is missing');
  if (!TYPES.includes(type)) throw broken(file, number, `${type} is no kind of entry`);
  return { type, ...rest } as Entry;
}

function* linesOf(file: string): Generator<{ bytes: Buffer; isWhole: boolean }> {
  const descriptor = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      let from = 0;
      for (let end = rest.indexOf(NEWLINE, from); end >= 0; end = rest.indexOf(NEWLINE, from)) {
        yield { bytes: rest.subarray(from, end), isWhole: true };
        from = end + 1;
      }
      rest = Buffer.from(rest.subarray(from));
    }
    if (rest.length > 0) yield { bytes: rest, isWhole: false };
  } finally {
    closeSync(descriptor);
  }
}

function lineOf(entry: Entry, n: number, prev: string): Buffer {
  return Buffer.from(JSON.stringify({ n, prev, ...entry }));
}

/** Makes a journal for the keys with that fingerprint. @throws SignerMistake where the file exists */
export function createJournal(file: string, fingerprint: string, now: number): void {
  const first = lineOf({ type: 'open', at: now, version: 1, fingerprint }, 1, NO_HEAD);
  writeNew(file, `${first.toString()}\n`);
  const folder = openSync(path.dirname(path.resolve(file)), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/**
 * The signer's memory on disk. A line is on disk before the answer that it stands for leaves; lines that come together
 * are written and flushed together.
 */
export class Journal {
  readonly #handle: FileHandle;
  readonly #unlock: () => void;
  readonly #heads: Heads;
  #size: number;
  #queue: Buffer[] = [];
  #writing: Promise<void> | undefined;
  #failure: JournalFailure | undefined;

  private constructor(handle: FileHandle, unlock: () => void, { heads, size }: Read) {
    this.#handle = handle;
    this.#unlock = unlock;
    this.#heads = heads;
    this.#size = size;
  }

  /**
   * Reads it whole and goes on behind its last line. A last line without its end is dropped: its answer never left.
   *
   * @param dropped is told how many bytes were dropped
   * @throws SignerMistake where it is missing, broken, or another process runs on it
   */
  static async open(
    file: string,
    { take, dropped }: { take: (entry: Entry) => void; dropped: (bytes: number) => void },
  ): Promise<Journal> {
    checkMode(file);
    const unlock = takeLock(`${file}.lock`);
    try {
      const read = readJournal(file, take);
      if (read.torn > 0) {
        const descriptor = openSync(file, 'r+');
        ftruncateSync(descriptor, read.size);
        fsyncSync(descriptor);
        closeSync(descriptor);
        dropped(read.torn);
      }
      return new Journal(await open(file, 'a'), unlock, read);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  get head(): JournalHead {
    return { entries: this.#heads.count, head: this.#heads.at(this.#heads.count) ?? NO_HEAD };
  }

  /** Whether a caller's stored head is one of this journal's. */
  knows({ entries, head }: JournalHead): boolean {
    return this.#heads.at(entries) === head;
  }

  /** The line is on disk once `flushed` resolves. @returns the head with it @throws JournalFailure after an earlier one */
  append(entry: Entry): JournalHead {
    if (this.#failure !== undefined) throw this.#failure;
    const { entries, head } = this.head;
    const line = lineOf(entry, entries + 1, head);
    this.#heads.push(digestOf(line));
    this.#queue.push(line);
    return this.head;
  }

  /**
   * Resolves when all that was appended is on disk.
   *
   * @throws JournalFailure
   */
  async flushed(): Promise<void> {
    // The first wait may be for a write that began before the last line was appended.
    while (this.#writing !== undefined || this.#queue.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    await this.flushed().catch(() => undefined);
    await this.#handle.close();
    this.#unlock();
  }

  async #write(): Promise<void> {
    const lines = this.#queue;
    this.#queue = [];
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const { size } = await this.#handle.stat();
      if (size !== this.#size) throw new Error('somebody else has written to the journal');
      const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.of(NEWLINE)]));
      await this.#handle.appendFile(bytes);
      await this.#handle.datasync();
      this.#size += bytes.length;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#failure ??= new JournalFailure(`the journal cannot be written: ${reason}`, { cause: error });
      throw this.#failure;
    }
  }
}

function checkMode(file: string): void {
  try {
    const { mode } = statSync(file);
    if ((mode & 0o077) !== 0)
      throw new SignerMistake('file_mode', `the journal ${file} can be read by others: chmod 600 ${file}`);
  } catch (error) {
    if (error instanceof SignerMistake) throw error;
    const code = codeOf(error);
    const what =
      code === 'ENOENT' ? 'does not exist: florin signer init makes it' : `cannot be opened (${code})`;
    throw new SignerMistake('journal', `the journal ${file} ${what}.`);
  }
}
