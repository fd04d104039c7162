import Type, { type Static } from 'typebox';
import { Metadata } from './checkout.ts';
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

export const REFUND_STATUSES = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_FAILURES = ['address_risk', 'transfer_failed'] as const;
export type RefundFailure = (typeof REFUND_FAILURES)[number];

export const REFUND_WAITS = ['merchant_suspended', 'network_not_enabled', 'network_paused', 'coins'] as const;
export type RefundWait = (typeof REFUND_WAITS)[number];

export const REFUND_ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

export const RefundInput = Type.Object(
  {
    refund_id: Type.String({
      pattern: REFUND_ID_PATTERN,
      description: 'Your own id of the refund and its idempotency key: 1 to 64 letters, digits, _ and -.',
      examples: ['order-1001-refund-1'],
    }),
    payment_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A payment (pay_…) or its session (cs_…).',
    }),
    amount: Type.Optional(
      Type.Integer({ minimum: 1, description: 'At 6 digits; by default all that is left. Needs currency.' }),
    ),
    currency: Type.Optional(Currency),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Where the money goes, on the network it came on. Left out: the wallet that was proved, for no more than it sent; else the payer names it behind claim_url.',
      }),
    ),
    tx_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Refunds this one wrong_token transfer: `<tx_id>` or `<tx_id>:<index>`.',
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'For your own records.' })),
    metadata: Type.Optional(Metadata),
  },
  { ...CLOSED, $id: 'RefundInput' },
);
export type RefundInput = Static<typeof RefundInput>;

export const Refund = Type.Object(
  {
    refund_id: Type.String({ description: 'As you named it.' }),
    object: Type.Literal('refund'),
    store_id: Type.String(),
    payment_id: Type.String(),
    amount: Units('What goes back'),
    currency: Currency,
    network: Network,
    address: OrNull(Type.String({ description: 'Where it goes; null until the payer has named it.' })),
    claim_url: OrNull(
      Type.String({ description: 'Where the payer names the address, once and within 30 days.' }),
    ),
    status: Type.Enum([...REFUND_STATUSES]),
    tx_id: OrNull(Type.String({ description: 'The transaction that pays it out.' })),
    failure_reason: OrNull(Type.Enum([...REFUND_FAILURES])),
    waiting_for: OrNull(
      Type.Enum([...REFUND_WAITS], {
        description:
          'Why a pending refund could not be sent at the last try: network_not_enabled until the operator sends real money there (florin networks enable).',
      }),
    ),
    reason: OrNull(Type.String()),
    metadata: Metadata,
    created: Seconds('When it was made'),
    completed_at: OrNull(Seconds('When it succeeded, failed or was canceled')),
    lost_at: OrNull(
      Seconds(
        'When a reorganisation was found to have taken its transaction for good; its operator decides what follows',
      ),
    ),
  },
  { ...CLOSED, $id: 'Refund' },
);
export type Refund = Static<typeof Refund>;
export const RefundList = ListOf('RefundList', Refund);

export const RefundQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...REFUND_STATUSES])),
    payment_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Of this payment (pay_…).' }),
    ),
    ...STORE_QUERY,
    currency: Type.Optional(Currency),
    network: Type.Optional(Network),
    address: Type.Optional(AddressQuery('That go to this address.')),
    tx_id: Type.Optional(TxIdQuery('That this transaction pays out.')),
    ...CREATED_QUERY,
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type RefundQuery = Static<typeof RefundQuery>;

export const RefundPath = Type.Object(
  { refund_id: Type.String({ description: 'As you named it.' }) },
  CLOSED,
);

/** What a payer does behind a claim link. */
export const RefundClaimInput = Type.Object(
  { address: Type.String({ minLength: 1, maxLength: 256 }) },
  { ...CLOSED, $id: 'RefundClaimInput' },
);
export type RefundClaimInput = Static<typeof RefundClaimInput>;
