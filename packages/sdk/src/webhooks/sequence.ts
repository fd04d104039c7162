import type { WebhookEvent } from './events.ts';
import { MemoryStore } from './memory-store.ts';
import type { SequenceStore } from './sequence-store.ts';

/**
 * The result of an event: `new`, its handler ran; `duplicate`, this event was handled before; `stale`, a later
 * one of the same resource was.
 */
export type Verdict = 'new' | 'duplicate' | 'stale';

export function isVerdict(value: unknown): value is Verdict {
  return value === 'new' || value === 'duplicate' || value === 'stale';
}

export type GuardedHandler = (event: WebhookEvent) => Promise<Verdict>;

/**
 * An event handler that never goes back in time: for handlers that keep a copy of `data.object`. Drops an event that
 * was handled before and one whose `sequence` is not above the last of its resource, so act on the state in
 * `data.object` and not on `type`: the event that a `type` names may be the one that came too late.
 *
 * The mark is set first and committed last, with whatever the handler wrote in `tx`: a handler that fails leaves no
 * mark, and the retry finds its event new. Throws what the handler throws.
 *
 * @example
 * ```ts
 * const onEvent = webhooks.latestOnly(async (event) => {
 *   if (event.type.startsWith('payment.')) console.log(event.data.object);
 * });
 * const receiver = webhooks.receiver({ secret: process.env.FLORIN_SECRET_KEY, onEvent });
 * ```
 */
export function latestOnly(handler: (event: WebhookEvent) => unknown): GuardedHandler;
export function latestOnly<Tx>(
  handler: (event: WebhookEvent, tx: Tx) => unknown,
  store: SequenceStore<Tx>,
): GuardedHandler;
export function latestOnly(
  handler: (event: WebhookEvent, tx: unknown) => unknown,
  store: SequenceStore<unknown> = new MemoryStore(),
): GuardedHandler {
  return guarded(handler, store, async (tx, event) => {
    if (!(await store.advance(tx, event.id, event.sequence))) return 'duplicate';
    const resource = resourceId(event);
    // A resource without an id has no order to keep.
    if (resource !== undefined && !(await store.advance(tx, resource, event.sequence))) return 'stale';
    return 'new';
  });
}

/**
 * An event handler that sees each event once, in any order: for handlers that act on a `type`, such as sending goods on
 * `invoice.paid`. Marks are committed as those of `latestOnly` are.
 *
 * @example
 * ```ts
 * const onEvent = webhooks.everyOnce(async (event) => {
 *   if (event.type === 'invoice.paid') console.log('send', event.data.object.id);
 * });
 * ```
 */
export function everyOnce(handler: (event: WebhookEvent) => unknown): GuardedHandler;
export function everyOnce<Tx>(
  handler: (event: WebhookEvent, tx: Tx) => unknown,
  store: SequenceStore<Tx>,
): GuardedHandler;
export function everyOnce(
  handler: (event: WebhookEvent, tx: unknown) => unknown,
  store: SequenceStore<unknown> = new MemoryStore(),
): GuardedHandler {
  return guarded(handler, store, async (tx, event) =>
    (await store.advance(tx, event.id, event.sequence)) ? 'new' : 'duplicate',
  );
}

function guarded<Tx>(
  handler: (event: WebhookEvent, tx: Tx) => unknown,
  store: SequenceStore<Tx>,
  judge: (tx: Tx, event: WebhookEvent) => Promise<Verdict>,
): GuardedHandler {
  return async (event) => {
    // Without a number it is unknown whether to drop it, so it is an error.
    if (!Number.isSafeInteger(event.sequence) || event.sequence < 1) {
      throw new TypeError(`the event ${event.id} has no sequence`);
    }
    return await store.transaction(async (tx) => {
      const verdict = await judge(tx, event);
      if (verdict === 'new') await handler(event, tx);
      return verdict;
    });
  };
}

/** The id fields of resources. */
interface ResourceIds {
  id?: string;
  batch_id?: string;
  refund_id?: string;
}

function resourceId(event: WebhookEvent): string | undefined {
  const { id, batch_id, refund_id }: ResourceIds = event.data.object;
  const ours = [id, batch_id].find((each) => typeof each === 'string');
  // A refund's id is the merchant's own, and may be the text of an id of another resource.
  return ours ?? (typeof refund_id === 'string' ? `refund/${refund_id}` : undefined);
}
