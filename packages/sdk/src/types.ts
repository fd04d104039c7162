/** Shapes of the API as the SDK hands them on: field names, units and Unix seconds exactly as on the wire. */

import type { EventType } from './webhooks/index.ts';
import type * as wire from './wire.ts';

export type {
  ApprovalInput,
  ApprovalSubject,
  Balance,
  Balances,
  ChainControl,
  ChainHeight,
  CheckoutSession,
  ClockAdvanced,
  ClockState,
  Customer,
  CustomerChange,
  CustomerInput,
  Delivery,
  DeliveryAttempt,
  Invoice,
  InvoicePreview,
  LedgerEntry,
  Mail,
  MailWithContent,
  Network,
  Payment,
  PaymentAcceptInput,
  PaymentLink,
  PaymentLinkChange,
  PaymentMethod,
  PaymentMethodUpdateInput,
  PaymentOption,
  PaymentTransaction,
  PayoutBatch,
  PayoutItem,
  PortalSession,
  PortalSessionInput,
  RedeliverInput,
  Redelivery,
  Refund,
  SimulatedTransfer,
  Subscription,
  SubscriptionCancelInput,
  SubscriptionItem,
  TestAddresses,
  ValidationError,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
} from './wire.ts';
export type Asset = wire.Currency;
export type PayoutBatchStatus = wire.PayoutBatch['status'];
export type PayoutItemStatus = wire.PayoutItem['status'];

/** One page of a list; `has_more`: further items follow. */
export interface Page<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

/** `has_more`: there are as many as the limit. */
export type SubscriptionList = Page<wire.Subscription>;

/** A part of a list. */
export interface CursorQuery {
  /** 1 to 100. */
  limit?: number;
  /** Id of the last item of the page before. */
  starting_after?: string;
}

/** A part of a list in the order in which its items were made. */
export interface PageQuery extends CursorQuery {
  /** `-created` newest first (the default), `created` oldest first. */
  sort?: wire.Sort;
}

/** When items were made, Unix seconds. */
export interface CreatedFilter {
  /** At this time or later. */
  gte?: number;
  /** Before this time. */
  lt?: number;
}

export interface CheckoutSessionQuery extends PageQuery {
  status?: wire.CheckoutSession['status'];
  /** The store of the key; another one is refused. */
  store?: string;
  /** Your own id of the customer. */
  customer?: string;
  /** Your own reference. */
  order_id?: string;
  /** Of the price: `USD`, `USDT`. */
  currency?: string;
  created?: CreatedFilter;
}

export interface PaymentQuery extends Omit<CheckoutSessionQuery, 'status'> {
  status?: wire.Payment['status'];
  exception?: wire.Payment['exceptions'][number];
  network?: wire.Network;
  /** One of the addresses that the payer was shown. */
  address?: string;
  /** A transaction that paid it, or one of its transfers as `<tx_id>:<index>`. */
  tx_id?: string;
}

export interface RefundQuery extends PageQuery {
  status?: wire.Refund['status'];
  /** The store of the key; another one is refused. */
  store?: string;
  currency?: Asset;
  network?: wire.Network;
  /** Where it goes. */
  address?: string;
  /** The transaction that pays it out. */
  tx_id?: string;
  created?: CreatedFilter;
}

export interface MailQuery extends PageQuery {
  kind?: wire.Mail['kind'];
  status?: wire.Mail['status'];
  /** The address. */
  to?: string;
  /** Id of what it is about: a payment, your own id of a refund, a subscription, an endpoint, a payout batch. */
  about?: string;
  created?: CreatedFilter;
}

/** A bigint counts base units (6 digits: `1_500_000n` is 1.50), a string is a decimal number of tokens (`"1.50"`). */
export type Amount = bigint | string;

/** Whole cents, greater than 0. */
export type PayoutItemInput = Omit<wire.PayoutItemInput, 'amount'> & { amount: Amount };

/** 1 to 200 items; the first fixes the network of the batch. */
export type PayoutBatchInput = Omit<wire.PayoutBatchInput, 'items'> & { items: readonly PayoutItemInput[] };

export interface PayoutBatchQuery extends PageQuery {
  status?: PayoutBatchStatus;
  currency?: Asset;
  idempotency_key?: string;
}

export interface PayoutItemQuery extends CursorQuery {
  status?: PayoutItemStatus;
}

export interface LedgerEntryQuery extends PageQuery {
  currency?: Asset;
  account?: string;
  /** Id of the resource that caused the entries. */
  cause?: string;
}

/** A whole number of the smallest unit of a currency: `1999` is 19.99 USD, `500` is 500 JPY, `12_500_000n` 12.50 USDT. */
export type Price = bigint | number;

export type CheckoutSessionInput = Omit<wire.CheckoutSessionInput, 'amount'> & { amount: Price };

/** Either `amount`, as of a session, or `open: true` where the payer says how much. */
export type PaymentLinkInput = Omit<wire.PaymentLinkInput, 'amount' | 'open'> &
  ({ amount: Price; open?: never } | { open: true; amount?: never });

/** `amount` is of the token that is sent; left out: what is left to pay. */
export type SessionPayInput = Omit<wire.SessionPayInput, 'amount'> & { amount?: Amount };

/** `amount` goes with `currency`, the token that it is in. A UUID is made where `refund_id` is left out. */
export type RefundInput = Omit<wire.RefundInput, 'amount' | 'refund_id'> & {
  refund_id?: string;
  amount?: Amount;
};

type PriceDataInput = wire.SubscriptionItemInput['price_data'];
export type SubscriptionItemInput = Omit<wire.SubscriptionItemInput, 'price_data'> & {
  price_data: Omit<PriceDataInput, 'unit_amount'> & { unit_amount: Price };
};

/** 1 to 20 items of one currency and one interval. */
export type SubscriptionInput = Omit<wire.SubscriptionInput, 'items'> & {
  items: readonly SubscriptionItemInput[];
};

export type SubscriptionUpdateInput = Omit<wire.SubscriptionUpdateInput, 'items'> & {
  items?: readonly SubscriptionItemInput[];
};

export interface SubscriptionQuery {
  /** Your own id of the customer. */
  customer?: string;
  status?: wire.Subscription['status'];
  created?: CreatedFilter;
  /** 1 to 100. */
  limit?: number;
  /** `-created` newest first (the default), `created` oldest first. */
  sort?: wire.Sort;
}

export interface SubscriptionReadOptions {
  expand?: readonly ('latest_invoice' | 'customer' | 'payment_method')[];
}

export interface InvoiceQuery extends PageQuery {
  /** Your own id of the customer, or ours (`cus_…`). */
  customer?: string;
  subscription?: string;
  status?: wire.Invoice['status'];
}

export interface PaymentMethodQuery extends PageQuery {
  /** Your own id of the customer, or ours (`cus_…`). */
  customer?: string;
  status?: wire.PaymentMethod['status'];
  currency?: Asset;
  network?: wire.Network;
  created?: CreatedFilter;
}

/** `cap` and `balance` are of the token that is charged. */
export type SubscriptionAuthorizeInput = Omit<wire.SubscriptionAuthorizeInput, 'cap' | 'balance'> & {
  cap?: Amount;
  balance?: Amount;
};

/** The wallet's new balance and allowance, in the token of the payment method. */
export type PaymentMethodChangeInput = Omit<wire.PaymentMethodChangeInput, 'balance' | 'allowance'> & {
  balance?: Amount;
  allowance?: Amount;
};

export type FundInput = Omit<wire.FundInput, 'amount'> & { amount: Amount };

export type { EventOf, EventType, WebhookEvent } from './webhooks/index.ts';

export interface EventQuery extends PageQuery {
  type?: EventType;
  /** Id of the resource that changed. */
  resource?: string;
}

export interface CustomerQuery extends PageQuery {
  /** The one with this id of yours. */
  external_customer_id?: string;
  /** Those with this e-mail address, in whichever case. */
  email?: string;
}

export interface DeliveryQuery extends PageQuery {
  event_id?: string;
  endpoint_id?: string;
  status?: wire.Delivery['status'];
}

export interface EventStreamOptions {
  /** Id of an event: what follows it. `start`: all that are kept. Left out: from now on. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
  /** Called whenever the stream is open, with the place that it goes on from: good for `after`. */
  onOpen?: (place: string) => void;
  /** Called before a pause after which it comes back; no error where the service ended the stream by itself. */
  onInterrupt?: (error: Error | undefined, pauseMs: number) => void;
}

/** An event as it was recorded. */
export interface RecordedEvent {
  id: string;
  type: EventType;
  /** JSON. */
  body: string;
}

/** What belongs to one call; see `Florin.withOptions`. */
export interface CallOptions {
  /** For one attempt, until the answer is complete. */
  timeoutMs?: number;
  /** After the first attempt, where repeating is safe; 0 turns retries off. */
  maxRetries?: number;
  /** Ends the call with its reason. A write that had been sent may have had its effect. */
  signal?: AbortSignal;
}

/** The answer behind a result; see `responseOf`. */
export interface ResponseInfo {
  status: number;
  /** Quote it when you ask about a call. */
  requestId: string | undefined;
  headers: Headers;
}

export interface CreateOptions {
  /** 1 to 128 printable ASCII characters; a UUID is made when it is left out. Keep it to repeat after a crash. */
  idempotencyKey?: string;
}
