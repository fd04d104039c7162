import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailure } from '../failure.ts';

const SECRET_MODE = 0o600;

/**
 * The last event that a listener is done with, in a file, so that the next one goes on behind it. A listener has
 * several names as it gets to know its store: the first one that is known counts.
 */
export class ListenerPlace {
  readonly #file: string;
  /** The one it is kept under, and those that it replaces. */
  #name: string;
  readonly #former = new Set<string>();
  #current: string | undefined;

  /** @throws CommandFailure where the file is none of ours */
  constructor(folder: string, names: readonly string[]) {
    this.#file = path.resolve(folder, 'listen.json');
    const known = this.#read();
    const [name = '', ...former] = names;
    this.#name = name;
    for (const one of former) this.#former.add(one);
    this.#current = names.map((name) => known[name]).find((place) => place !== undefined);
  }

  get current(): string | undefined {
    return this.#current;
  }

  /** A better name has become known. */
  rename(name: string): void {
    if (name !== this.#name) this.#former.add(this.#name);
    this.#name = name;
  }

  /** Whole or not at all, and beside what other listeners keep: the file is read anew each time. */
  keep(place: string): void {
    if (place === this.#current) return;
    mkdirSync(path.dirname(this.#file), { recursive: true });
    const draft = `${this.#file}.${process.pid}`;
    const others = Object.entries(this.#read()).filter(([name]) => !this.#former.has(name));
    const text = `${JSON.stringify(Object.fromEntries([...others, [this.#name, place]]), null, 2)}\n`;
    writeFileSync(draft, text, { mode: SECRET_MODE });
    renameSync(draft, this.#file);
    this.#current = place;
  }

  #read(): Record<string, string> {
    try {
      return Object(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
      const message = `${this.#file} cannot be read; delete it to begin with events from now on.`;
      throw new CommandFailure('listen_file', message, { cause: error });
    }
  }
}
