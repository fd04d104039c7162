import type { TSchema } from 'typebox';
import { Fail } from '../fail.ts';
import { closingLine, columnsOfItem, headingLine, itemLine } from './csv.ts';
import type { OpenStream } from './event-stream.ts';
import { sliceOf } from './list.ts';
import { preferredType } from './media-type.ts';
import type { List, RouteRequest, Slice } from './route.ts';

/** Rows of a query; those of two are in memory at a time. Each slice is a query of its own, so no transaction outlives a slow reader. */
const SLICE = 500;
/** Exports that an API key may have open in one process. */
const OPEN_MAX = 4;

/** The answer of a list as CSV. */
export interface Csv {
  open: OpenStream;
  headers: Readonly<Record<string, string>>;
}

/** Whether the header `Accept` prefers CSV to JSON. A list that it leaves the choice answers JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  return preferredType(accept, ['text/csv', 'application/json']) === 'text/csv';
}

/** Lists as CSV: everything that fits the filter, slice by slice, in constant memory. */
export class Exports {
  readonly #open = new Map<string, number>();

  /** Reads the first slice, so that a refusal is an answer and not a file that is cut off. @throws Fail */
  async start(list: List, request: RouteRequest<unknown, unknown, unknown>): Promise<Csv> {
    const { limit, ...slice } = sliceOf(request.query);
    if (limit !== undefined) {
      const message = 'CSV holds everything that fits the filter: leave limit out.';
      throw new Fail('invalid_request', { message, param: 'limit' });
    }
    const release = this.#claim(request.caller.keyId);
    try {
      const first = await list.read(request, { after: undefined, ...slice, limit: SLICE });
      const open: OpenStream = (signal) => {
        if (signal.aborted) release();
        signal.addEventListener('abort', release, { once: true });
        const read = (id: string) => list.read(request, { ...slice, limit: SLICE, after: id });
        return csvOf({ ...list, read, first }, signal);
      };
      const name = request.url.split('?', 1)[0]?.split('/').at(-1) ?? 'list';
      return { open, headers: headersOf(name) };
    } catch (error) {
      release();
      throw error;
    }
  }

  #claim(keyId: string): () => void {
    const count = this.#open.get(keyId) ?? 0;
    if (count >= OPEN_MAX) {
      const message = `${OPEN_MAX} exports are open with this API key or session. Read one of them to its end first.`;
      throw new Fail('rate_limited', { message, retryAfterSeconds: 1 });
    }
    this.#open.set(keyId, count + 1);
    return () => {
      const left = (this.#open.get(keyId) ?? 1) - 1;
      if (left === 0) this.#open.delete(keyId);
      else this.#open.set(keyId, left);
    };
  }
}

const headersOf = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8; header=present',
  'content-disposition': `attachment; filename="${name}.csv"`,
  // A proxy that buffers answers would hold the whole file.
  'x-accel-buffering': 'no',
});

interface Rows {
  item: TSchema;
  idOf(this: void, item: object): string;
  first: Slice<object>;
  /** The slice behind an item. */
  read(this: void, after: string): Promise<Slice<object>>;
}

/** The lines of a list as CSV. Stops between two slices once the signal is aborted. */
export async function* csvOf(
  { item, idOf, first, read }: Rows,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const columns = columnsOfItem(item);
  let rows = 0;
  yield headingLine(columns);
  for (let slice = first; ; ) {
    const { data, has_more } = slice;
    rows += data.length;
    const last = data.at(-1);
    const isLast = !has_more || last === undefined;
    // The database reads the next slice while this one is written and sent.
    const next = isLast ? undefined : read(idOf(last));
    // Awaited below, unless nobody reads on.
    next?.catch(() => undefined);
    if (data.length > 0) yield data.map((one) => itemLine(columns, one)).join('');
    if (next === undefined) break;
    // Breaks the answer off, should anybody still read it.
    signal?.throwIfAborted();
    slice = await next;
  }
  yield closingLine(rows);
}
