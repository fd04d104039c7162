import { randomUUID } from 'node:crypto';
import { CursorList } from './cursor-list.ts';
import type { Call, QueryValue, Transport } from './transport.ts';
import type { CreateOptions, PageQuery } from './types.ts';

type Query = Readonly<Record<string, QueryValue>>;
type Look<T> = () => Promise<T | undefined>;

/** The calls of one kind of object. `onDoubt`, of a write that may or may not have had its effect, is that of `Call`. */
export abstract class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected write<T>(call: Call<T>): Promise<T> {
    return this.#transport.send(call);
  }

  protected read<T>(path: string, query: Query = {}): Promise<T> {
    return this.#transport.send({ method: 'GET', path, query, onDoubt: 'repeat' });
  }

  /** One attempt at reading, for `onDoubt`, which is repeated as a whole. */
  protected get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#transport.once({ method: 'GET', path, query, onDoubt: 'repeat' });
  }

  protected pages<T>(path: string, query: PageQuery, idOf: (item: T) => string): CursorList<T> {
    return new CursorList(this.#transport, path, query, idOf);
  }

  /** A list without pages as CSV. */
  protected export(path: string, query: Query, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#transport.stream({ method: 'GET', path, query, onDoubt: 'repeat' }, signal, 'text/csv');
  }

  protected post<T>(path: string, body: object, onDoubt: Call<T>['onDoubt']): Promise<T> {
    return this.write({ method: 'POST', path, body, onDoubt });
  }

  /** A create in doubt is repeated with the same Idempotency-Key, which makes one object of both. */
  protected createOnce<T>(path: string, body: object, options: CreateOptions): Promise<T> {
    const idempotencyKey = options.idempotencyKey ?? randomUUID();
    return this.write({ method: 'POST', path, body, idempotencyKey, onDoubt: 'repeat' });
  }

  /** Changes what `path` shows. The change is idempotent, so a read is enough before a retry. */
  protected amend<T>(
    path: string,
    body: object,
    call: Partial<Pick<Call<T>, 'method' | 'path'>> = {},
  ): Promise<T> {
    const onDoubt = this.foundIf<T>(path, () => false);
    return this.write({ method: 'POST', path: `${path}/update`, body, ...call, onDoubt });
  }

  /** For `onDoubt`: what `path` shows, if that is the effect of the write. */
  protected foundIf<T>(path: string, isDone: (found: T) => boolean): Look<T> {
    return async () => {
      const found = await this.get<T>(path);
      return isDone(found) ? found : undefined;
    };
  }
}
