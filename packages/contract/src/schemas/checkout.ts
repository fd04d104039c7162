import Type, { type Static } from 'typebox';
import { CustomerEmail, ExternalCustomerId } from './customers.ts';
import {
  AddressQuery,
  CLOSED,
  CREATED_QUERY,
  Currency,
  ListOf,
  Network,
  OrNull,
  PAGE_QUERY,
  Seconds,
  STORE_QUERY,
  TxIdQuery,
  Units,
} from './shared.ts';

const METADATA_KEYS_MAX = 50;
const METADATA_KEY_MAX = 40;

/** Metadata of a resource: at most 50 keys of 40 characters; values are strings of 500, numbers, booleans. */
export const Metadata = Type.Record(
  // Of any characters, which a dot is not: the value of a key with a line break is a value too.
  Type.String({ pattern: '^[\\s\\S]*$' }),
  Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
  {
    propertyNames: Type.String({ minLength: 1, maxLength: METADATA_KEY_MAX }),
    maxProperties: METADATA_KEYS_MAX,
    description: 'Free keys of yours; shown again as given. At most 40 characters each.',
  },
);
export type Metadata = Static<typeof Metadata>;

export const CHECKOUT_SESSION_STATUSES = [
  'open',
  'processing',
  'completed',
  'expired',
  'canceled',
  'frozen',
] as const;
export type CheckoutSessionStatus = (typeof CHECKOUT_SESSION_STATUSES)[number];

export const PAYMENT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'expired',
  'cancelled',
  'frozen',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const PAYMENT_EXCEPTIONS = ['underpaid', 'overpaid', 'late', 'wrong_token', 'canceled'] as const;
export type PaymentException = (typeof PAYMENT_EXCEPTIONS)[number];

/** A token on a network in which a payer may pay. */
export const PaymentOption = Type.Object(
  { currency: Currency, network: Network },
  { ...CLOSED, $id: 'PaymentOption' },
);
export type PaymentOption = Static<typeof PaymentOption>;

export const CurrencyCode = Type.String({
  pattern: '^[A-Z]{3,4}$',
  description: 'An ISO 4217 code, `USDT` or `USDC`, in upper case.',
  examples: ['USD'],
});
/** A redirect URL of a payer. */
export const PageUrl = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description });

export const CheckoutSessionInput = Type.Object(
  {
    amount: Type.Integer({
      minimum: 1,
      description:
        'In the smallest unit of the currency: cents of USD, whole JPY, 6 digits of USDT and USDC.',
      examples: [1999],
    }),
    currency: CurrencyCode,
    order_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Your own reference.' })),
    description: Type.Optional(Type.String({ maxLength: 500, description: 'Shown to the payer.' })),
    customer: Type.Optional(ExternalCustomerId),
    customer_email: Type.Optional(CustomerEmail),
    success_url: Type.Optional(PageUrl('Where the payer may go after paying.')),
    cancel_url: Type.Optional(PageUrl('Where the payer may go without paying.')),
    expires_in: Type.Optional(
      Type.Integer({ minimum: 300, maximum: 86_400, default: 1_800, description: 'Seconds.' }),
    ),
    payment_options: Type.Optional(
      Type.Array(PaymentOption, {
        minItems: 1,
        maxItems: 6,
        uniqueItems: true,
        description:
          "What the payer may choose from: all of the store's by default, for a price in USDT or USDC that token's.",
      }),
    ),
    metadata: Type.Optional(Metadata),
  },
  { ...CLOSED, $id: 'CheckoutSessionInput' },
);
export type CheckoutSessionInput = Static<typeof CheckoutSessionInput>;

export const CheckoutSession = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('checkout.session'),
    store_id: Type.String(),
    amount: Type.Integer({ description: 'As asked for.' }),
    currency: CurrencyCode,
    order_id: OrNull(Type.String()),
    description: OrNull(Type.String()),
    customer: OrNull(Type.String()),
    customer_email: OrNull(Type.String()),
    status: Type.Enum([...CHECKOUT_SESSION_STATUSES]),
    url: Type.String({ description: 'The page on which the payer pays.' }),
    payment_id: Type.String(),
    success_url: OrNull(Type.String()),
    cancel_url: OrNull(Type.String()),
    expires_at: OrNull(Seconds('When it expires unless money was seen')),
    metadata: Metadata,
    created: Seconds('When it was made'),
    completed_at: OrNull(Seconds('When it was paid')),
  },
  { ...CLOSED, $id: 'CheckoutSession' },
);
export type CheckoutSession = Static<typeof CheckoutSession>;
export const CheckoutSessionList = ListOf('CheckoutSessionList', CheckoutSession);

/** Filters that sessions and payments share. */
const CHECKOUT_QUERY = {
  ...STORE_QUERY,
  customer: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Of this customer, by your own id.' }),
  ),
  order_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Of sessions with this reference of yours.' }),
  ),
  currency: Type.Optional(CurrencyCode),
  ...CREATED_QUERY,
  ...PAGE_QUERY,
};

export const CheckoutSessionQuery = Type.Object(
  { status: Type.Optional(Type.Enum([...CHECKOUT_SESSION_STATUSES])), ...CHECKOUT_QUERY },
  CLOSED,
);
export type CheckoutSessionQuery = Static<typeof CheckoutSessionQuery>;

export const PAYMENT_TRANSACTION_KINDS = ['counted', 'wrong_token', 'seized', 'unlisted'] as const;
export type PaymentTransactionKind = (typeof PAYMENT_TRANSACTION_KINDS)[number];
export const PAYMENT_TRANSACTION_STATUSES = ['seen', 'final', 'gone'] as const;
export type PaymentTransactionStatus = (typeof PAYMENT_TRANSACTION_STATUSES)[number];

export const PaymentTransaction = Type.Object(
  {
    tx_id: Type.String(),
    index: Type.Integer({ minimum: 0, description: 'Place of the transfer in its transaction.' }),
    currency: OrNull(Currency),
    network: Network,
    address: Type.String({ description: 'The address of the payment that received it.' }),
    from: Type.String(),
    amount: Units('What was received'),
    kind: Type.Enum([...PAYMENT_TRANSACTION_KINDS], {
      description:
        'counted towards the price · wrong_token: another listed token or option · seized: from a sanctioned sender · unlisted: another token, shown only.',
    }),
    confirmations: Type.Integer({ minimum: 0 }),
    required_confirmations: Type.Integer({ minimum: 1 }),
    status: Type.Enum([...PAYMENT_TRANSACTION_STATUSES]),
    seen_at: Seconds('When we or its block first saw it'),
    final_at: OrNull(Seconds('When no reorganisation could take it back any more')),
  },
  { ...CLOSED, $id: 'PaymentTransaction' },
);
export type PaymentTransaction = Static<typeof PaymentTransaction>;

export const Payment = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment'),
    store_id: Type.String(),
    checkout_session: OrNull(Type.String()),
    invoice: OrNull(Type.String()),
    customer: OrNull(Type.String()),
    order_id: OrNull(Type.String({ description: 'Your own reference, as given to its session.' })),
    amount: Type.Integer(),
    currency: CurrencyCode,
    status: Type.Enum([...PAYMENT_STATUSES]),
    pay_currency: OrNull(Currency),
    network: OrNull(Network),
    pay_amount: OrNull(Units('What the payer has to send')),
    exchange_rate: OrNull(Type.String({ description: 'What one token costs in `currency`.' })),
    address: OrNull(Type.String({ description: 'Where the payer sends it.' })),
    amount_received: Units('Final transfers that count'),
    amount_refunded: Units('Refunds of them that succeeded'),
    exceptions: Type.Array(Type.Enum([...PAYMENT_EXCEPTIONS])),
    transactions: Type.Array(PaymentTransaction),
    decline_code: OrNull(Type.String()),
    created: Seconds('When it was made'),
    completed_at: OrNull(Seconds('When it was paid')),
    expires_at: OrNull(Seconds('When it expires unless money was seen')),
    metadata: Metadata,
  },
  { ...CLOSED, $id: 'Payment' },
);
export type Payment = Static<typeof Payment>;
export const PaymentList = ListOf('PaymentList', Payment);

export const PaymentQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
    exception: Type.Optional(
      Type.Enum([...PAYMENT_EXCEPTIONS], { description: 'With this exception among its `exceptions`.' }),
    ),
    network: Type.Optional(Network),
    address: Type.Optional(AddressQuery('With this address among those that its payer was shown.')),
    tx_id: Type.Optional(
      TxIdQuery(
        'With a transfer of this transaction: `<tx_id>`, or one of its transfers as `<tx_id>:<index>`.',
      ),
    ),
    ...CHECKOUT_QUERY,
  },
  CLOSED,
);
export type PaymentQuery = Static<typeof PaymentQuery>;

export const CheckoutSessionPath = Type.Object({ session_id: Type.String() }, CLOSED);
export const PaymentPath = Type.Object(
  { payment_id: Type.String({ description: 'A payment (pay_…) or its session (cs_…).' }) },
  CLOSED,
);
export const PaymentAcceptInput = Type.Object(
  {
    tx_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Takes this one wrong_token transfer as it is: `<tx_id>` or `<tx_id>:<index>`.',
      }),
    ),
  },
  { ...CLOSED, $id: 'PaymentAcceptInput' },
);
export type PaymentAcceptInput = Static<typeof PaymentAcceptInput>;
