import { keysOf } from '@florin/contract/tables';
import { type RawBuilder, sql } from 'kysely';
import { invariant } from '../../fail.ts';

/**
 * The allowed moves between the states of a resource. Each module keeps its table in `states.ts`, and checks it in the
 * statement that writes a state, or right before it. Staying in a state is not a move.
 *
 * @example const MOVES = new Moves('a refund', { pending: ['succeeded', 'canceled'], succeeded: [], canceled: [] });
 */
export class Moves<State extends string> {
  readonly #resource: string;
  readonly #states: readonly State[];
  readonly table: Readonly<Record<State, readonly State[]>>;

  constructor(resource: string, table: Readonly<Record<State, readonly State[]>>) {
    this.#resource = resource;
    this.#states = keysOf(table);
    this.table = table;
  }

  /** Whether the state may change to that one, or is that one already. */
  allows(from: State, to: State): boolean {
    return from === to || this.table[from].includes(to);
  }

  /** Whether a sequence of moves leads from one state to the other, for changes that make several moves at once. */
  leadsTo(from: State, to: State): boolean {
    const reached = new Set<State>([from]);
    for (const state of reached) for (const next of this.table[state]) reached.add(next);
    return reached.has(to);
  }

  /** Whether no move leads out of the state. */
  isFinal(state: State): boolean {
    return this.table[state].length === 0;
  }

  /** The states that may become this one, including itself. For statements that write many rows. */
  into(to: State): State[] {
    return this.#states.filter((from) => this.allows(from, to));
  }

  /** The states that may become this one, without itself. */
  before(to: State): State[] {
    return this.#states.filter((from) => this.table[from].includes(to));
  }

  /**
   * A move that a statement makes with fixed states.
   *
   * @example const CANCEL = MOVES.move('pending', 'canceled');
   *   sql`update refund set status = ${CANCEL.to} where status = ${CANCEL.from}`
   * @throws if the table does not have it
   */
  move<From extends State, To extends State>(from: From, to: To): { from: From; to: To } {
    invariant(this.table[from].includes(to), `${this.#resource} goes from ${from} to ${to}`);
    return { from, to };
  }

  /** A condition for statements that write many rows with a state each: the row's state may become its new one. */
  allowedIn(from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<boolean> {
    const pairs = this.#states.flatMap((state) =>
      [state, ...this.table[state]].map((next) => `${state} ${next}`),
    );
    return sql<boolean>`${from} || ' ' || ${to} = any(${pairs}::text[])`;
  }

  /** @throws if the table does not allow the move; the error rolls the transaction back */
  check(from: State, to: State): void {
    invariant(this.allows(from, to), `${this.#resource} goes from ${from} to ${to}`);
  }
}
