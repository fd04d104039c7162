import type { QueryValue, Transport } from './transport.ts';
import type { Page, PageQuery } from './types.ts';

const PAGE_SIZE_WHEN_ITERATING = 100;

/**
 * A list not read yet. `for await (const item of list)` reads page after page until the end; `await list.page()`
 * reads the one page that the query names.
 */
export class CursorList<T> implements AsyncIterable<T> {
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

  page(): Promise<Page<T>> {
    return this.#read(this.#query);
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
    const values: Record<string, QueryValue> = { ...query };
    return this.#transport.send<Page<T>>({
      method: 'GET',
      path: this.#path,
      query: values,
      onDoubt: 'repeat',
    });
  }
}
