import Type, { type Static } from 'typebox';
import { EVENT_TYPES, OPT_IN_EVENT_TYPES } from './events.ts';
import { CLOSED, ListOf, OrNull, PAGE_QUERY, Seconds } from './shared.ts';

const URL_LENGTH_MAX = 2_048;
const TYPES_MAX = 30;

/** Event types of an endpoint: names, and `*` for all types of the specification. */
const EventChoice = Type.Enum(['*', ...EVENT_TYPES, ...OPT_IN_EVENT_TYPES]);
export type WebhookEventChoice = Static<typeof EventChoice>;

const Url = Type.String({
  minLength: 1,
  maxLength: URL_LENGTH_MAX,
  description: 'Where events are sent: an https:// address without user information or fragment.',
  examples: ['https://shop.example/webhooks'],
});
const Types = Type.Array(EventChoice, {
  minItems: 1,
  maxItems: TYPES_MAX,
  uniqueItems: true,
  description:
    '`*` stands for all types that the specification names; opt-in types are sent to endpoints that name them.',
});
const EndpointStatus = Type.Enum(['enabled', 'disabled']);

export const WebhookEndpoint = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('webhook_endpoint'),
    store_id: Type.String(),
    url: Type.String({ description: 'In the normal form of the URL standard.' }),
    types: Types,
    status: EndpointStatus,
    disabled_reason: OrNull(
      Type.Enum(['by_request', 'failing'], {
        description: '`failing`: every attempt of five days failed. Null while enabled.',
      }),
    ),
    created: Seconds('When it was made'),
  },
  { ...CLOSED, $id: 'WebhookEndpoint' },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;
export const WebhookEndpointList = ListOf('WebhookEndpointList', WebhookEndpoint);

export const WebhookEndpointPath = Type.Object({ endpoint_id: Type.String() }, CLOSED);
export const WebhookEndpointQuery = Type.Object(PAGE_QUERY, CLOSED);
export const WebhookEndpointInput = Type.Object(
  { url: Url, types: Type.Optional(Types) },
  { ...CLOSED, $id: 'WebhookEndpointInput' },
);
export type WebhookEndpointInput = Static<typeof WebhookEndpointInput>;
export const WebhookEndpointChange = Type.Object(
  { url: Type.Optional(Url), types: Type.Optional(Types), status: Type.Optional(EndpointStatus) },
  { ...CLOSED, $id: 'WebhookEndpointChange', description: 'What is left out stays as it is.' },
);
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>;

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted', 'paused'] as const;
const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], {
  description:
    'pending: to be sent or retried · delivered: acknowledged · failed: refused by an answer that is not retried · exhausted: all retries failed · paused: its endpoint is disabled.',
});

export const DELIVERY_FAILURES = [
  'http_status',
  'redirect',
  'timeout',
  'dns',
  'connection',
  'tls',
  'address_denied',
  'protocol',
] as const;
export type DeliveryFailure = (typeof DELIVERY_FAILURES)[number];

export const DeliveryAttempt = Type.Object(
  {
    at: Seconds('When it began, by the clock of the merchant'),
    duration_ms: Type.Integer({ minimum: 0, description: 'Real time until its end.' }),
    status_code: OrNull(Type.Integer({ description: 'Of the answer; null where there was none.' })),
    failure: OrNull(
      Type.Enum([...DELIVERY_FAILURES], { description: 'Null: acknowledged. Else the class of failure.' }),
    ),
    response: OrNull(
      Type.String({ description: 'The first kilobyte of the answer as text; null where there was none.' }),
    ),
    request_headers: OrNull(
      Type.Record(Type.String({ pattern: '^[A-Za-z-]+$' }), Type.String(), {
        description:
          'Of the request; of the signature its first digits. Null where an attempt is of before they were kept.',
      }),
    ),
  },
  { ...CLOSED, $id: 'DeliveryAttempt' },
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const Delivery = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('delivery'),
    event_id: Type.String(),
    endpoint_id: Type.String(),
    status: DeliveryStatus,
    attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first; redeliveries are added to them.' }),
    next_attempt_at: OrNull(
      Seconds('When the next attempt is due, by the clock of the merchant; null unless pending'),
    ),
    created: Seconds('When it was made'),
  },
  { ...CLOSED, $id: 'Delivery', description: 'One event on its way to one endpoint.' },
);
export type Delivery = Static<typeof Delivery>;
export const DeliveryList = ListOf('DeliveryList', Delivery);

export const DeliveryPath = Type.Object({ delivery_id: Type.String() }, CLOSED);
export const DeliveryQuery = Type.Object(
  {
    event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    endpoint_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type DeliveryQuery = Static<typeof DeliveryQuery>;

export const RedeliverInput = Type.Object(
  {
    since: Seconds('Compared with `created` of the events'),
    which: Type.Enum(['failed', 'missing'], {
      description:
        'failed: deliveries that failed or are exhausted · missing: events of its types that have no delivery to it.',
    }),
  },
  { ...CLOSED, $id: 'RedeliverInput' },
);
export type RedeliverInput = Static<typeof RedeliverInput>;
export const Redelivery = Type.Object(
  {
    object: Type.Literal('redelivery'),
    endpoint_id: Type.String(),
    count: Type.Integer({
      minimum: 0,
      description: 'Deliveries that are sent again, or for the first time.',
    }),
  },
  { ...CLOSED, $id: 'Redelivery' },
);
export type Redelivery = Static<typeof Redelivery>;
