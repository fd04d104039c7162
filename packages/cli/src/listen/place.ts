import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailure } from '../failure.ts';

const SECRET_MODE = 0o600;

/**
 * Keeps the last handled event of a listener in a file, so that the next run continues after it. A listener has
 * several names as it gets to know its store: the first one that is known counts.
 */
export class ListenerPlace {
  readonly #file: string;
  /** The current name, and the names that it replaces. */
  #name: string;
  readonly #former = new Set<string>();
  #current: string | undefined;

  /** @throws CommandFailure if the file is not one of ours */
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

  /** Writes atomically and keeps other listeners' entries: the file is read again each time. */
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
