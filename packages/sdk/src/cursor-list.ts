import type { QueryValue, Transport } from './transport.ts';
import type { CreatedFilter, Page, PageQuery } from './types.ts';

const PAGE_SIZE_WHEN_ITERATING = 100;

/**
 * A list not read yet. `await list` reads the one page that the query names, `for await (const item of list)` page after
 * page until the end.
 *
 * @example
 * ```ts
 * const { data, has_more } = await florin.payments.list({ status: 'completed', limit: 20 });
 * for await (const payment of florin.payments.list({ order_id: 'A-17' })) console.log(payment.id);
 * ```
 */
export class CursorList<T> implements AsyncIterable<T>, PromiseLike<Page<T>> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #query: PageQuery;
  readonly #idOf: (item: T) => string;

  constructor(transport: Transport, path: string, query: PageQuery, idOf: (item: T) => string) {
    this.#transport = transport;
    this.#path = path;
    this.#query = query;
    this.#idOf = idOf;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list reads its page
  readonly then: PromiseLike<Page<T>>['then'] = (read, refused) => this.page().then(read, refused); // oxlint-disable-line unicorn/no-thenable

  /**
   * The one page that the query names, as `await list` gives it.
   *
   * @example
   * ```ts
   * const { data } = await florin.customers.list({ limit: 5 }).page();
   * ```
   */
  page(): Promise<Page<T>> {
    return this.#read(this.#query);
  }

  /**
   * Everything that fits the query as CSV, in pieces of UTF-8 as they arrive. The last line is `# n rows`; throws FlorinError
   * where the answer breaks off before it.
   *
   * @example
   * ```ts
   * const file = createWriteStream('payments.csv');
   * for await (const piece of florin.payments.list({ status: 'completed' }).csv()) file.write(piece);
   * file.end();
   * ```
   */
  csv(signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const { limit: _, ...query } = valuesOf(this.#query);
    return this.#transport.stream(
      { method: 'GET', path: this.#path, query, onDoubt: 'repeat' },
      signal,
      'text/csv',
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let query: PageQuery = { limit: PAGE_SIZE_WHEN_ITERATING, ...this.#query };
    for (;;) {
      const page = await this.#read(query);
      yield* page.data;
      const last = page.data.at(-1);
      if (!page.has_more || last === undefined) return;
      query = { ...query, starting_after: this.#idOf(last) };
    }
  }

  #read(query: PageQuery): Promise<Page<T>> {
    return this.#transport.send<Page<T>>({
      method: 'GET',
      path: this.#path,
      query: valuesOf(query),
      onDoubt: 'repeat',
    });
  }
}

/** `created: { gte: 1 }` as the parameter `created[gte]`. */
export function valuesOf(query: object): Record<string, QueryValue> {
  const given: Record<string, QueryValue | CreatedFilter> = { ...query };
  const pairs = Object.entries(given).flatMap(([name, value]): [string, QueryValue][] =>
    typeof value === 'object'
      ? Object.entries(value).map(([bound, seconds]) => [`${name}[${bound}]`, seconds])
      : [[name, value]],
  );
  return Object.fromEntries(pairs);
}
