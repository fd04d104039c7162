import type * as wire from '../wire.ts';

export type EventType = wire.Event['type'];

/** The resource of an event type: `payout_batch.updated` carries a PayoutBatch. */
interface Resources {
  payment: wire.Payment;
  refund: wire.Refund;
  subscription: wire.Subscription;
  invoice: wire.Invoice;
  payout_batch: wire.PayoutBatch;
  payment_method: wire.PaymentMethod;
  webhook_endpoint: wire.WebhookEndpoint;
}

type ResourceOf<T extends EventType> = T extends `${infer Category extends keyof Resources}.${string}`
  ? Resources[Category]
  : never;

/** An event of one type. */
export interface EventOf<T extends EventType> extends Omit<wire.Event, 'type' | 'data'> {
  type: T;
  data: {
    /** The resource as it stands after the whole change. */
    object: ResourceOf<T>;
    /** The old values of the fields that changed, null for one that was absent; null when the change made the resource. */
    previous_attributes: { [Field in keyof ResourceOf<T>]?: ResourceOf<T>[Field] | null } | null;
  };
}

/**
 * The body of a webhook; a `switch` on `type` narrows `data.object`. `sequence` rises by 1 with each event of
 * the resource: drop what is older than seen.
 */
export type WebhookEvent = { [T in EventType]: EventOf<T> }[EventType];
