import Type, { type Static } from 'typebox';
import { CLOSED, ListOf, OrNull, PAGE_QUERY, Seconds } from './shared.ts';

/** Types that the specification names: delivered to every endpoint that does not choose otherwise. */
export const EVENT_TYPES = [
  'payment.completed',
  'payment.failed',
  'payment.expired',
  'payment.cancelled',
  'refund.succeeded',
  'refund.failed',
  'subscription.created',
  'subscription.trialing',
  'subscription.active',
  'subscription.past_due',
  'subscription.canceled',
  'subscription.updated',
  'subscription.incomplete_expired',
  'invoice.created',
  'invoice.paid',
  'invoice.payment_failed',
] as const;
/** Recorded always, delivered to endpoints that ask for them. */
export const OPT_IN_EVENT_TYPES = [
  'payout_batch.updated',
  'payout_item.updated',
  'refund.updated',
  'payment_method.updated',
  'payment.updated',
  'webhook_endpoint.disabled',
] as const;
/** Sent by the test call of an endpoint to that endpoint alone. */
export const TEST_EVENT_TYPE = 'webhook_endpoint.test';
export type RecordedEventType = EventType | typeof TEST_EVENT_TYPE;
export type EventType = (typeof EVENT_TYPES)[number] | (typeof OPT_IN_EVENT_TYPES)[number];

const AnyObject = Type.Object({}, { additionalProperties: true });

export const Event = Type.Object(
  {
    id: Type.String({ description: 'Equals X-Service-Event-ID of each delivery.' }),
    object: Type.Literal('event'),
    type: Type.Enum([...EVENT_TYPES, ...OPT_IN_EVENT_TYPES, TEST_EVENT_TYPE]),
    api_version: Type.String(),
    created: Seconds('When the change was committed, by the clock of the merchant'),
    store_id: Type.String(),
    livemode: Type.Boolean(),
    sequence: Type.Integer({
      minimum: 1,
      description:
        'Starts at 1 and rises by 1 with each event of the resource: drop what is older than seen.',
    }),
    data: Type.Object(
      {
        object: AnyObject,
        previous_attributes: OrNull(AnyObject),
      },
      CLOSED,
    ),
  },
  {
    ...CLOSED,
    $id: 'Event',
    description:
      'data.object is the resource as it stood after the change; previous_attributes holds the old values of the fields that changed, and is null when the change made the resource.',
  },
);
export type Event = Static<typeof Event>;

export const EventList = ListOf('EventList', Event);
export const EventPath = Type.Object({ event_id: Type.String() }, CLOSED);
export const EventQuery = Type.Object(
  {
    type: Type.Optional(Type.Enum([...EVENT_TYPES, ...OPT_IN_EVENT_TYPES, TEST_EVENT_TYPE])),
    resource: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'Id of the resource that changed.' }),
    ),
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type EventQuery = Static<typeof EventQuery>;

export const EventStreamQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'An event: what follows it. `start`: all that are kept. Left out: from now on.',
      }),
    ),
  },
  CLOSED,
);
