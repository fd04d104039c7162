import { invariant } from '../fail.ts';

/**
 * The moves that the states of a resource allow. Each module keeps its table in `states.ts` and checks it in the
 * statement, or right before the statement, that writes a state. Staying in a state is no move and always allowed.
 *
 * @example const MOVES = new Moves('a refund', { pending: ['succeeded', 'canceled'], succeeded: [], canceled: [] });
 */
export class Moves<State extends string> {
  readonly #resource: string;
  readonly table: Readonly<Record<State, readonly State[]>>;

  constructor(resource: string, table: Readonly<Record<State, readonly State[]>>) {
    this.#resource = resource;
    this.table = table;
  }

  allows(from: State, to: State): boolean {
    return from === to || this.table[from].includes(to);
  }

  /** No move leads out of it. */
  isFinal(state: State): boolean {
    return this.table[state].length === 0;
  }

  /** The states that may become this one, itself included: for statements that write many rows. */
  into(to: State): State[] {
    const states = Object.keys(this.table) as State[];
    return states.filter((from) => this.allows(from, to));
  }

  /** @throws what rolls the transaction back: the caller has decided what no table allows */
  check(from: State, to: State): void {
    invariant(this.allows(from, to), `${this.#resource} goes from ${from} to ${to}`);
  }
}
