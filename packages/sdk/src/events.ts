import { setTimeout as sleep } from 'node:timers/promises';
import { CursorList } from './cursor-list.ts';
import { FlorinError } from './errors.ts';
import { judge } from './retry.ts';
import { readBlocks } from './server-sent.ts';
import { segment, type Transport } from './transport.ts';
import type { EventQuery, EventStreamOptions, RecordedEvent, WebhookEvent } from './types.ts';

const PAUSE_MAX_MS = 30_000;

export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The store's events, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.events.list({ limit: 50 });
   * console.log(data.map(({ type }) => type));
   * ```
   */
  list(query: EventQuery = {}): CursorList<WebhookEvent> {
    return new CursorList(this.#transport, '/events', query, (event) => event.id);
  }

  /**
   * An event, with the resource as it stood after the change.
   *
   * @example
   * ```ts
   * const event = await florin.events.retrieve(eventId);
   * if (event.type === 'payment.completed') console.log(event.data.object.id);
   * ```
   */
  retrieve(eventId: string): Promise<WebhookEvent> {
    return this.#transport.send({ method: 'GET', path: `/events/${segment(eventId)}`, onDoubt: 'repeat' });
  }

  /**
   * The store's events as they happen, each once and in order of commit. It comes back by itself after an interruption,
   * behind the event that it gave last; it ends when the signal is aborted, and throws FlorinError where coming back is
   * refused. Keep the `id` of the last event that you are done with: `after` it, a later run goes on without a gap.
   *
   * @example
   * ```ts
   * const ending = new AbortController();
   * process.once('SIGTERM', () => ending.abort());
   * for await (const event of florin.events.stream({ after: lastEventId, signal: ending.signal })) console.log(event.type);
   * ```
   */
  async *stream(options: EventStreamOptions = {}): AsyncGenerator<WebhookEvent, void, undefined> {
    for await (const { body } of this.streamRecorded(options)) yield JSON.parse(body);
  }

  /**
   * The same with the recorded bodies: the exact text that deliveries carry.
   *
   * @example
   * ```ts
   * for await (const { type, body } of florin.events.streamRecorded()) console.log(type, body.length);
   * ```
   */
  async *streamRecorded(options: EventStreamOptions = {}): AsyncGenerator<RecordedEvent, void, undefined> {
    const { signal, onOpen, onInterrupt } = options;
    let place = options.after;
    let basePauseMs = this.#transport.basePauseMs;
    for (let failures = 0; ; ) {
      let error: FlorinError | undefined;
      try {
        for await (const block of readBlocks(this.#open(place, signal))) {
          failures = 0;
          basePauseMs = block.retry ?? basePauseMs;
          place = block.id ?? place;
          const { id = '', event = '', data } = block;
          if (data !== undefined) yield { id, type: event as WebhookEvent['type'], body: data };
          // Where it begins comes first, without an event.
          else if (block.id !== undefined) onOpen?.(block.id);
        }
      } catch (caught) {
        if (signal?.aborted) return;
        if (!(caught instanceof FlorinError) || judge(caught) === 'final') throw caught;
        error = caught;
      }
      if (signal?.aborted) return;
      const pauseMs = pauseBefore(failures, basePauseMs, error?.retryAfterSeconds);
      onInterrupt?.(error, pauseMs);
      failures++;
      if (!(await pause(pauseMs, signal))) return;
    }
  }

  #open(after: string | undefined, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const query = after === undefined ? {} : { after };
    return this.#transport.stream(
      { method: 'GET', path: '/events/stream', query, onDoubt: 'repeat' },
      signal,
    );
  }
}

/** A doubling, partly random pause, and never less than what the service asked for. */
function pauseBefore(failures: number, baseMs: number, askedSeconds = 0): number {
  const longest = Math.min(PAUSE_MAX_MS, baseMs * 2 ** failures);
  return Math.max(askedSeconds * 1000, longest * (0.5 + Math.random() / 2));
}

/** @returns false where the signal was aborted meanwhile */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
