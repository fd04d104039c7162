import { invariant } from '../fail.ts';

/**
 * The allowed moves between the states of a resource. Each module keeps its table in `states.ts`, and checks it in the
 * statement that writes a state, or right before it. Staying in a state is not a move and always allowed.
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

  /** Whether no move leads out of the state. */
  isFinal(state: State): boolean {
    return this.table[state].length === 0;
  }

  /** The states that may become this one, including itself. For statements that write many rows. */
  into(to: State): State[] {
    const states = Object.keys(this.table) as State[];
    return states.filter((from) => this.allows(from, to));
  }

  /** @throws if the table does not allow the move; the error rolls the transaction back */
  check(from: State, to: State): void {
    invariant(this.allows(from, to), `${this.#resource} goes from ${from} to ${to}`);
  }
}
