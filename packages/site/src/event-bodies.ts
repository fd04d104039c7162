import type {
  Event,
  Invoice,
  Payment,
  PaymentMethod,
  PayoutBatch,
  PayoutItem,
  RecordedEventType,
  Refund,
  Subscription,
  WebhookEndpoint,
} from '@florin/contract/schemas';

const id = (prefix: string) => `${prefix}_01kpf0m8x0f2vt9rgsd7zc3v9n`;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const PAYER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const TX_ID = `0x${'4e3b7a91c05d2f68'.repeat(4)}`;
const CREATED = 1_776_643_200;
const LATER = CREATED + 95;
const MONTH = 30 * 86_400;

const payment: Payment = {
  id: id('pay'),
  object: 'payment',
  store_id: id('store'),
  checkout_session: id('cs'),
  invoice: null,
  customer: 'customer-17',
  order_id: 'A-17',
  amount: 1999,
  currency: 'USD',
  status: 'completed',
  pay_currency: 'USDT',
  network: 'erc20',
  pay_amount: 19_990_000,
  exchange_rate: '1',
  address: ADDRESS,
  amount_received: 19_990_000,
  amount_refunded: 0,
  exceptions: [],
  transactions: [
    {
      tx_id: TX_ID,
      index: 0,
      currency: 'USDT',
      network: 'erc20',
      address: ADDRESS,
      from: PAYER,
      amount: 19_990_000,
      kind: 'counted',
      confirmations: 64,
      required_confirmations: 64,
      status: 'final',
      seen_at: CREATED + 60,
      final_at: LATER,
    },
  ],
  decline_code: null,
  created: CREATED,
  completed_at: LATER,
  expires_at: CREATED + 1_800,
  metadata: {},
};

const unpaid: Payment = { ...payment, amount_received: 0, transactions: [], completed_at: null };

const refund: Refund = {
  refund_id: 'A-17-r1',
  object: 'refund',
  store_id: id('store'),
  payment_id: payment.id,
  amount: 5_000_000,
  currency: 'USDT',
  network: 'erc20',
  address: PAYER,
  claim_url: null,
  status: 'succeeded',
  tx_id: TX_ID,
  failure_reason: null,
  waiting_for: null,
  reason: 'One item was missing',
  metadata: {},
  created: CREATED,
  completed_at: LATER,
  lost_at: null,
};

const subscription: Subscription = {
  id: id('sub'),
  object: 'subscription',
  customer: 'customer-17',
  store_id: id('store'),
  currency: 'USD',
  status: 'active',
  items: [
    {
      id: id('si'),
      price_data: {
        id: id('price'),
        currency: 'USD',
        product: 'Gold',
        unit_amount: 1999,
        recurring: { interval: 'month', interval_count: 1 },
      },
      quantity: 1,
      metadata: {},
    },
  ],
  payment_method_id: id('pm'),
  billing_cycle_anchor: CREATED,
  current_period_start: CREATED,
  current_period_end: CREATED + MONTH,
  latest_invoice: id('in'),
  metadata: {},
  created: CREATED,
};

const { payment_method_id: _method, ...begun } = subscription;

const invoice: Invoice = {
  id: id('in'),
  object: 'invoice',
  subscription_id: subscription.id,
  customer: id('cus'),
  amount_due: 1999,
  amount_paid: 0,
  amount_remaining: 1999,
  currency: 'USD',
  status: 'open',
  payment_status: 'pending',
  billing_reason: 'subscription_cycle',
  frequency: 'Monthly',
  recurring_interval: 'month',
  recurring_interval_count: 1,
  period_start: CREATED,
  period_end: CREATED + MONTH,
  due_date: CREATED,
  created: CREATED,
};

const batch: PayoutBatch = {
  batch_id: id('pb'),
  status: 'completed',
  currency: 'USDT',
  network: 'trc20',
  total_count: 2,
  valid_count: 2,
  invalid_count: 0,
  success_count: 2,
  failed_count: 0,
  total_amount: '2050.50',
  service_fee_amount: '2.00',
  debit_amount: '2052.50',
  frozen_amount: '0.00',
  charged_service_fee_amount: '2.00',
  can_submit: false,
  validation_errors: [],
  description: 'Salaries, November',
  created_at: CREATED,
  submitted_at: CREATED + 30,
  completed_at: LATER,
};

const item: PayoutItem = {
  item_id: id('pbi'),
  batch_id: batch.batch_id,
  index: 0,
  real_name: 'Ada',
  network: 'trc20',
  address: 'TVXsiBDkXoBLtZg9g2UCUjeXa1Cn66LL5E',
  memo: null,
  amount: '1200.00',
  service_fee_amount: '1.00',
  status: 'failed',
  validation_errors: [],
  tx_id: TX_ID.slice(2),
  failure_code: 'transfer_failed',
  failure_message: 'A reorganisation took the transaction.',
  created_at: CREATED,
  completed_at: LATER,
  lost_at: LATER,
};

const method: PaymentMethod = {
  id: id('pm'),
  object: 'payment_method',
  customer: id('cus'),
  merchant_id: id('mer'),
  type: 'wallet_mandate',
  currency: 'USDT',
  chain_type: 2,
  status: 'inactive',
  mandate_id: 'TUJ54qcVaviPG54ZoMG3g2q5gaE35a6CSW',
  metadata: {},
  created: CREATED,
};

const endpoint: WebhookEndpoint = {
  id: id('we'),
  object: 'webhook_endpoint',
  store_id: id('store'),
  url: 'https://shop.example/webhooks',
  types: ['*'],
  status: 'enabled',
  disabled_reason: null,
  created: CREATED,
};

interface Change {
  object: object;
  /** What the changed fields were before; null when the change made the resource. */
  before: object | null;
}

/** What each event carries, of a change that causes it. */
const CHANGES: Readonly<Record<RecordedEventType, Change>> = {
  'payment.completed': { object: payment, before: { status: 'processing', completed_at: null } },
  'payment.failed': {
    object: { ...unpaid, status: 'failed', decline_code: 'insufficient_balance' } satisfies Payment,
    before: { status: 'processing', decline_code: null },
  },
  'payment.expired': {
    object: { ...unpaid, status: 'expired' } satisfies Payment,
    before: { status: 'pending' },
  },
  'payment.cancelled': {
    object: { ...unpaid, status: 'cancelled' } satisfies Payment,
    before: { status: 'pending' },
  },
  'payment.updated': {
    object: { ...unpaid, status: 'processing' } satisfies Payment,
    before: { status: 'pending' },
  },
  'refund.succeeded': { object: refund, before: { status: 'processing', completed_at: null } },
  'refund.failed': {
    object: { ...refund, status: 'failed', tx_id: null, failure_reason: 'address_risk' } satisfies Refund,
    before: { status: 'pending', failure_reason: null, completed_at: null },
  },
  'refund.updated': {
    object: { ...refund, status: 'canceled', tx_id: null } satisfies Refund,
    before: { status: 'pending', completed_at: null },
  },
  'subscription.created': { object: { ...begun, status: 'incomplete' } satisfies Subscription, before: null },
  'subscription.trialing': {
    object: { ...subscription, status: 'trialing' } satisfies Subscription,
    before: { status: 'incomplete', payment_method_id: null },
  },
  'subscription.active': { object: subscription, before: { status: 'incomplete' } },
  'subscription.past_due': {
    object: { ...subscription, status: 'past_due' } satisfies Subscription,
    before: { status: 'active' },
  },
  'subscription.canceled': {
    object: { ...subscription, status: 'canceled', canceled_at: LATER } satisfies Subscription,
    before: { status: 'past_due', canceled_at: null },
  },
  'subscription.updated': {
    object: { ...subscription, cancel_at: CREATED + MONTH } satisfies Subscription,
    before: { cancel_at: null },
  },
  'subscription.incomplete_expired': {
    object: { ...begun, status: 'incomplete_expired' } satisfies Subscription,
    before: { status: 'incomplete' },
  },
  'invoice.created': { object: invoice, before: null },
  'invoice.paid': {
    object: {
      ...invoice,
      status: 'paid',
      payment_status: 'completed',
      amount_paid: 1999,
      amount_remaining: 0,
      payment_id: payment.id,
      paid_at: LATER,
    } satisfies Invoice,
    before: {
      status: 'open',
      payment_status: 'processing',
      amount_paid: 0,
      amount_remaining: 1999,
      paid_at: null,
    },
  },
  'invoice.payment_failed': {
    object: { ...invoice, payment_status: 'failed', payment_id: payment.id } satisfies Invoice,
    before: { payment_status: 'processing' },
  },
  'payout_batch.updated': {
    object: batch,
    before: { status: 'processing', success_count: 1, frozen_amount: '850.50', completed_at: null },
  },
  'payout_item.updated': { object: item, before: { status: 'succeeded', lost_at: null } },
  'payment_method.updated': { object: method, before: { status: 'active' } },
  'webhook_endpoint.disabled': {
    object: { ...endpoint, status: 'disabled', disabled_reason: 'failing' } satisfies WebhookEndpoint,
    before: { status: 'enabled', disabled_reason: null },
  },
  'webhook_endpoint.test': { object: endpoint, before: {} },
};

/** The whole body that an event of the type is delivered with. */
export function bodyOf(type: RecordedEventType): Event {
  const { object, before } = CHANGES[type];
  return {
    id: id('evt'),
    object: 'event',
    type,
    api_version: '2026-04-20',
    created: LATER,
    store_id: id('store'),
    livemode: false,
    sequence: before === null ? 1 : 3,
    data: { object, previous_attributes: before },
  };
}
