import Type, { type Static } from 'typebox';
import { AMOUNT_PATTERN } from '../money.ts';
import {
  CLOSED,
  CREATED_QUERY,
  CURSOR_QUERY,
  Currency,
  Decimal,
  ListOf,
  Network,
  OrNull,
  PAGE_QUERY,
  Seconds,
} from './shared.ts';

export const PAYOUT_ITEMS_MAX = 200;

export const PAYOUT_BATCH_STATUSES = [
  'draft',
  'needs_fix',
  'pending',
  'pending_approval',
  'processing',
  'partially_completed',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const;
export type PayoutBatchStatus = (typeof PAYOUT_BATCH_STATUSES)[number];

export const PAYOUT_ITEM_STATUSES = [
  'valid',
  'invalid',
  'queued',
  'processing',
  'succeeded',
  'failed',
  'canceled',
] as const;
export type PayoutItemStatus = (typeof PAYOUT_ITEM_STATUSES)[number];

export const PayoutItemInput = Type.Object(
  {
    real_name: Type.Optional(Type.String({ maxLength: 500, description: "The recipient's name." })),
    network: Network,
    address: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "The recipient's address on that network.",
    }),
    memo: Type.Optional(Type.String({ maxLength: 128 })),
    amount: Type.String({
      pattern: AMOUNT_PATTERN,
      description: 'Decimal string greater than 0 with at most two decimals.',
    }),
  },
  {
    ...CLOSED,
    $id: 'PayoutItemInput',
    examples: [{ network: 'erc20', address: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '5.00' }],
  },
);
export type PayoutItemInput = Static<typeof PayoutItemInput>;

export const PayoutBatchInput = Type.Object(
  {
    currency: Currency,
    description: Type.Optional(
      Type.String({ maxLength: 5_000, description: 'Free text.', examples: ['Salaries of May'] }),
    ),
    items: Type.Array(PayoutItemInput, { minItems: 1, maxItems: PAYOUT_ITEMS_MAX }),
  },
  { ...CLOSED, $id: 'PayoutBatchInput' },
);
export type PayoutBatchInput = Static<typeof PayoutBatchInput>;

export const ValidationError = Type.Object(
  {
    field: Type.String({ description: 'Path of the field at fault, such as items[3].address.' }),
    code: Type.Enum(['address_invalid', 'network_mismatch', 'token_not_supported', 'address_risk']),
    message: Type.String(),
  },
  { ...CLOSED, $id: 'ValidationError' },
);
export type ValidationError = Static<typeof ValidationError>;

const Count = Type.Integer({ minimum: 0 });

export const PayoutBatch = Type.Object(
  {
    batch_id: Type.String(),
    status: Type.Enum([...PAYOUT_BATCH_STATUSES]),
    currency: Currency,
    network: Network,
    total_count: Count,
    valid_count: Count,
    invalid_count: Count,
    success_count: Count,
    failed_count: Count,
    total_amount: Decimal('Sum of the valid items'),
    service_fee_amount: Decimal('Fees of the valid items'),
    debit_amount: Decimal('Total and fees, fixed at submit'),
    frozen_amount: Decimal('What is reserved and not yet paid, charged or released'),
    charged_service_fee_amount: Decimal('Fees of the items that succeeded'),
    can_submit: Type.Optional(Type.Boolean({ description: 'Absent when the batch is canceled.' })),
    validation_errors: Type.Array(ValidationError),
    description: OrNull(Type.String()),
    created_at: Seconds('Creation'),
    submitted_at: OrNull(Seconds('Submission')),
    completed_at: OrNull(Seconds('Completion')),
  },
  { ...CLOSED, $id: 'PayoutBatch' },
);
export type PayoutBatch = Static<typeof PayoutBatch>;

export const PayoutItem = Type.Object(
  {
    item_id: Type.String(),
    batch_id: Type.String(),
    index: Type.Integer({ minimum: 0, description: 'Place in the batch as created; never changes.' }),
    real_name: OrNull(Type.String()),
    network: Network,
    address: Type.String(),
    memo: OrNull(Type.String()),
    amount: Decimal('What the recipient gets'),
    service_fee_amount: Decimal('Fee quoted for the item'),
    status: Type.Enum([...PAYOUT_ITEM_STATUSES]),
    validation_errors: Type.Array(ValidationError),
    tx_id: OrNull(Type.String({ description: 'The transaction that carries the item.' })),
    failure_code: OrNull(Type.Enum(['address_risk', 'transfer_failed'])),
    failure_message: OrNull(Type.String()),
    created_at: Seconds('Creation'),
    completed_at: OrNull(Seconds('When the item succeeded or failed')),
    lost_at: OrNull(
      Seconds(
        'When a reorganisation was found to have taken its transaction for good; its operator decides what follows',
      ),
    ),
  },
  { ...CLOSED, $id: 'PayoutItem' },
);
export type PayoutItem = Static<typeof PayoutItem>;

export const PayoutBatchList = ListOf('PayoutBatchList', PayoutBatch);
export const PayoutItemList = ListOf('PayoutItemList', PayoutItem);

export const PayoutBatchPath = Type.Object({ batch_id: Type.String() }, CLOSED);
export const PayoutItemPath = Type.Object({ batch_id: Type.String(), item_id: Type.String() }, CLOSED);

export const PayoutBatchQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...PAYOUT_BATCH_STATUSES])),
    currency: Type.Optional(Currency),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: '^[ -~]+$',
        description: 'Finds the batch of a key, for instance after a 503.',
      }),
    ),
    ...CREATED_QUERY,
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type PayoutBatchQuery = Static<typeof PayoutBatchQuery>;

export const PayoutItemQuery = Type.Object(
  { status: Type.Optional(Type.Enum([...PAYOUT_ITEM_STATUSES])), ...CURSOR_QUERY },
  CLOSED,
);
export type PayoutItemQuery = Static<typeof PayoutItemQuery>;
