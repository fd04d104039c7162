import Type, { type Static } from 'typebox';
import { CurrencyCode, Metadata, PageUrl } from './checkout.ts';
import { Customer, CustomerEmail, CustomerName, CustomerPhone, ExternalCustomerId } from './customers.ts';
import { BILLING_INTERVALS, Invoice } from './invoices.ts';
import { PaymentMethod } from './payment-methods.ts';
import { CLOSED, CREATED_QUERY, OrNull, PAGE_QUERY, Seconds } from './shared.ts';

export const SUBSCRIPTION_STATUSES = [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'canceled',
  'incomplete_expired',
] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const SUBSCRIPTION_ITEMS_MAX = 20;
export const TRIAL_DAYS_MAX = 730;

export const RecurringConfig = Type.Object(
  {
    interval: Type.Enum([...BILLING_INTERVALS]),
    interval_count: Type.Integer({ description: 'Always 1.' }),
  },
  { ...CLOSED, $id: 'RecurringConfig' },
);
export type RecurringConfig = Static<typeof RecurringConfig>;

export const PriceData = Type.Object(
  {
    id: Type.Optional(Type.String()),
    currency: CurrencyCode,
    product: Type.String({ description: 'Your id or name of the product.' }),
    unit_amount: Type.Integer({ description: 'For one, in the smallest unit of the currency.' }),
    recurring: RecurringConfig,
  },
  { ...CLOSED, $id: 'PriceData' },
);
export type PriceData = Static<typeof PriceData>;

export const SubscriptionItem = Type.Object(
  {
    id: Type.String(),
    price_data: PriceData,
    quantity: Type.Integer({ minimum: 1 }),
    metadata: Metadata,
  },
  { ...CLOSED, $id: 'SubscriptionItem' },
);
export type SubscriptionItem = Static<typeof SubscriptionItem>;

export const Subscription = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('subscription'),
    customer: Type.String({ description: 'Your own id of the customer.' }),
    store_id: Type.String(),
    currency: CurrencyCode,
    description: Type.Optional(Type.String()),
    status: Type.Enum([...SUBSCRIPTION_STATUSES]),
    items: Type.Array(SubscriptionItem),
    payment_method_id: Type.Optional(Type.String({ description: 'What its invoices are charged to.' })),
    billing_cycle_anchor: Seconds('From where its periods are counted'),
    current_period_start: Type.Optional(
      Seconds(
        'Where the last period that was paid, or the trial, begins; before the first payment that of the first invoice',
      ),
    ),
    current_period_end: Type.Optional(Seconds('Where it ends')),
    canceled_at: Type.Optional(Seconds('When it was canceled')),
    cancel_at: Type.Optional(Seconds('When it is to be canceled')),
    latest_invoice: Type.Optional(Type.String()),
    latest_invoice_object: Type.Optional(Invoice),
    customer_object: Type.Optional(Customer),
    payment_method_object: Type.Optional(PaymentMethod),
    checkout_url: Type.Optional(
      Type.String({
        description: 'Where the customer pays first or gives a mandate; only in the answer of its creation.',
      }),
    ),
    metadata: Metadata,
    created: Seconds('When it was made'),
  },
  {
    ...CLOSED,
    $id: 'Subscription',
    description: 'A field without a value is absent; …_object only where it is expanded.',
  },
);
export type Subscription = Static<typeof Subscription>;

export const SubscriptionList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Subscription),
    has_more: Type.Boolean({ description: 'Whether there are as many as the limit.' }),
    url: Type.String({ description: 'Path and query of this request, as received.' }),
  },
  { ...CLOSED, $id: 'SubscriptionList' },
);
export type SubscriptionList = Static<typeof SubscriptionList>;

export const SubscriptionQuery = Type.Object(
  {
    customer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Of this customer, by your own id.',
      }),
    ),
    status: Type.Optional(Type.Enum([...SUBSCRIPTION_STATUSES])),
    ...CREATED_QUERY,
    limit: PAGE_QUERY.limit,
    sort: PAGE_QUERY.sort,
  },
  CLOSED,
);
export type SubscriptionQuery = Static<typeof SubscriptionQuery>;

export const SubscriptionPath = Type.Object({ subscription_id: Type.String() }, CLOSED);

export const SUBSCRIPTION_EXPANSIONS = ['latest_invoice', 'customer', 'payment_method'] as const;
export type SubscriptionExpansion = (typeof SUBSCRIPTION_EXPANSIONS)[number];
const EXPANSION = `(${SUBSCRIPTION_EXPANSIONS.join('|')})`;
export const SubscriptionReadQuery = Type.Object(
  {
    expand: Type.Optional(
      Type.String({
        pattern: `^${EXPANSION}(,${EXPANSION})*$`,
        description: 'What to return whole beside its id, separated by commas.',
        examples: ['latest_invoice,customer'],
      }),
    ),
    'expand[]': Type.Optional(
      Type.Array(Type.Enum([...SUBSCRIPTION_EXPANSIONS]), {
        description: 'The same, one each time that it is given.',
      }),
    ),
  },
  CLOSED,
);
export type SubscriptionReadQuery = Static<typeof SubscriptionReadQuery>;

const PriceDataInput = Type.Object(
  {
    currency: CurrencyCode,
    product: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Your id or name of the product, shown to the customer.',
    }),
    unit_amount: Type.Integer({
      minimum: 0,
      description: 'For one, in the smallest unit of the currency.',
      examples: [1999],
    }),
    recurring: Type.Object(
      {
        interval: Type.Enum([...BILLING_INTERVALS]),
        interval_count: Type.Optional(Type.Literal(1)),
      },
      CLOSED,
    ),
  },
  CLOSED,
);

export const SubscriptionItemInput = Type.Object(
  {
    price_data: PriceDataInput,
    quantity: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    metadata: Type.Optional(Metadata),
  },
  { ...CLOSED, $id: 'SubscriptionItemInput' },
);
export type SubscriptionItemInput = Static<typeof SubscriptionItemInput>;

const ItemsInput = Type.Array(SubscriptionItemInput, {
  minItems: 1,
  maxItems: SUBSCRIPTION_ITEMS_MAX,
  description: 'Of one currency and one interval.',
});
const PaymentMethodId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'An active payment method of the customer, which is charged at once.',
});

export const SubscriptionInput = Type.Object(
  {
    customer: ExternalCustomerId,
    customer_email: Type.Optional(CustomerEmail),
    customer_name: Type.Optional(CustomerName),
    customer_phone: Type.Optional(CustomerPhone),
    currency: CurrencyCode,
    items: ItemsInput,
    description: Type.Optional(Type.String({ maxLength: 500, description: 'Shown to the customer.' })),
    payment_method_id: Type.Optional(PaymentMethodId),
    trial_period_days: Type.Optional(
      Type.Integer({ minimum: 0, maximum: TRIAL_DAYS_MAX, description: 'Days before the first period.' }),
    ),
    billing_cycle_anchor: Type.Optional(
      Seconds('From where periods are counted: ahead, by one interval at most, and not with a trial'),
    ),
    cancel_at: Type.Optional(Seconds('When it is to be canceled')),
    success_url: Type.Optional(PageUrl('Where the customer may go after paying.')),
    cancel_url: Type.Optional(PageUrl('Where the customer may go without paying.')),
    metadata: Type.Optional(Metadata),
  },
  { ...CLOSED, $id: 'SubscriptionInput' },
);
export type SubscriptionInput = Static<typeof SubscriptionInput>;

export const SubscriptionCancelInput = Type.Object(
  {
    cancel_at_period_end: Type.Optional(Type.Literal(true)),
    cancel_at: Type.Optional(Seconds('When to cancel it')),
  },
  {
    ...CLOSED,
    $id: 'SubscriptionCancelInput',
    maxProperties: 1,
    description: 'Nothing: at once. Else one of the two.',
  },
);
export type SubscriptionCancelInput = Static<typeof SubscriptionCancelInput>;

export const PRORATIONS = ['now', 'period_end', 'none'] as const;
export type Proration = (typeof PRORATIONS)[number];

export const SubscriptionUpdateInput = Type.Object(
  {
    items: Type.Optional(ItemsInput),
    metadata: Type.Optional(Metadata),
    payment_method_id: Type.Optional(PaymentMethodId),
    cancel_at: Type.Optional(OrNull(Seconds('When to cancel it; null: not any more'))),
    proration: Type.Optional(
      Type.Enum([...PRORATIONS], {
        default: 'now',
        description:
          'now: the rest of the period is charged or credited at once · period_end: from the next period on · none: at once, without a sum.',
      }),
    ),
  },
  { ...CLOSED, $id: 'SubscriptionUpdateInput', description: 'What is left out stays as it is.' },
);
export type SubscriptionUpdateInput = Static<typeof SubscriptionUpdateInput>;
