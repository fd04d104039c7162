import type * as wire from '../wire.ts';

export type EventType = wire.Event['type'];

/** The resource type of an event type: `payout_batch.updated` carries a PayoutBatch. */
interface ResourceNames {
  payment: 'Payment';
  refund: 'Refund';
  subscription: 'Subscription';
  invoice: 'Invoice';
  payout_batch: 'PayoutBatch';
  payment_method: 'PaymentMethod';
  webhook_endpoint: 'WebhookEndpoint';
}

type ResourceOf<T extends EventType> = T extends `${infer Category extends keyof ResourceNames}.${string}`
  ? wire.WireTypes[ResourceNames[Category]]
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
