import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely';
import { isPipelineQuery, type StatementQuery, statementOf } from './connection.ts';
import type { Tx } from './db.ts';
import { foldAsked } from './fold-asked.ts';
import type { Statement, StatementResult } from './pipeline.ts';
import { sendPipeline } from './statement.ts';
import { asSentBy } from './transact.ts';

/**
 * Runs several changes in one transaction, each as if it were alone in it: what they ask in one turn of the loop goes in
 * one trip, so that a hundred of them take as many trips as the longest one. Each sees what the others have written, at
 * no certain time, so they must have nothing in common that one reads and another one writes.
 *
 * @throws what the first that fails throws, after all have ended: the caller then rolls back
 */
export async function sideBySide<T>(tx: Tx, changes: readonly ((tx: Tx) => Promise<T>)[]): Promise<T[]> {
  const [first, ...others] = changes;
  if (first === undefined) return [];
  if (others.length === 0) return [await first(tx)];
  const turns = new Turns(tx);
  const ended = await Promise.allSettled(
    changes.map((change) =>
      change(asSentBy(tx, new Turn(turns))).catch((error: unknown) => turns.end(error)),
    ),
  );
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw turns.failure ?? failed.reason;
  await turns.flush();
  return ended.map((end) => (end as PromiseFulfilledResult<T>).value);
}

interface Entry {
  change: Turn;
  /** One statement, or those that a change asks together. */
  asked: readonly Statement[];
  /** Undefined where nobody waits for it. */
  answer?: { resolve: (told: readonly StatementResult[]) => void; reject: (error: unknown) => void };
}

/** Stands for the connection of a transaction towards one of its changes. */
class Turn implements DatabaseConnection {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#turns.execute(this, query);
  }

  /** Part of what Kysely calls a connection; no change reads a stream. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('changes side by side read no streams');
  }
}

/** BatchedCalls what changes ask in one turn of the loop. */
class Turns {
  readonly #tx: Tx;
  #asked: Entry[] = [];
  #isBusy = false;
  #failure: { error: unknown } | undefined;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  get failure(): unknown {
    return this.#failure?.error;
  }

  /** After the first failure nothing is asked any more: the transaction is given up. */
  end(error: unknown): never {
    this.#failure ??= { error };
    throw error;
  }

  async execute<R>(change: Turn, query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (isPipelineQuery(query))
      return { rows: [...(await this.#ask({ change, asked: query.statements }))] } as QueryResult<R>;
    const asked = [statementOf(query)];
    if (asked[0]?.isDeferred !== true) return resultOf(await this.#ask({ change, asked })) as QueryResult<R>;
    this.#asked.push({ change, asked });
    return { rows: [] };
  }

  /** Hands over what nobody waits for: it goes with the next statement of the transaction. */
  async flush(): Promise<void> {
    const { statements } = foldAsked(askedBy(this.#take()));
    for (const statement of statements) {
      const query: StatementQuery<unknown> = { ...CompiledQuery.raw(''), statement };
      await this.#tx.executeQuery(query);
    }
  }

  async #ask(entry: Omit<Entry, 'answer'>): Promise<readonly StatementResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly StatementResult[]>();
    this.#asked.push({ ...entry, answer: { resolve, reject } });
    this.#sendLater();
    return await promise;
  }

  /** After this turn of the loop, in which others ask too. What comes while a trip is under way goes with the next one. */
  #sendLater(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const entries = this.#take();
    try {
      const { statements, tellEach } = foldAsked(askedBy(entries));
      const told = tellEach(await sendPipeline(this.#tx, statements));
      for (const { asked, answer } of entries) {
        const own = told.splice(0, asked.length);
        answer?.resolve(own);
      }
    } catch (error) {
      for (const { answer } of entries) answer?.reject(error);
    }
    this.#isBusy = false;
    if (this.#asked.some(({ answer }) => answer !== undefined)) this.#sendLater();
  }

  #take(): Entry[] {
    const entries = this.#asked;
    this.#asked = [];
    return entries;
  }
}

const askedBy = (entries: readonly Entry[]) =>
  entries.flatMap(({ change, asked }) => asked.map((one) => ({ ...one, change })));

function resultOf([told]: readonly StatementResult[]): StatementResult {
  if (told === undefined) throw new Error('each statement of a trip is answered');
  return told;
}
