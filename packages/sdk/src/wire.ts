// Written from the OpenAPI document by scripts/sdk-types.ts: change the schemas, not this file.

/**
 * Where a stablecoin moves: Ethereum (erc20), Tron (trc20) or Solana (spl).
 */
export type Network = 'erc20' | 'trc20' | 'spl';
/**
 * The stablecoin.
 */
export type Currency = 'USDT' | 'USDC';
/**
 * The order of a list: `-created` newest first, `created` oldest first. The same for each page of it.
 */
export type Sort = '-created' | 'created';

export interface ApprovalInput {
  /**
   * The registered approver whose key has signed.
   */
  approver: string;
  /**
   * Until when the signature is good, at most 30 days, Unix seconds.
   */
  valid_until: number;
  /**
   * Hex: Ed25519 over the text of the statement, or EIP-712 of an Ethereum wallet.
   */
  signature: string;
}
export interface ApprovalSubject {
  kind: 'payout' | 'refund';
  /**
   * UUID of the merchant.
   */
  merchant: string;
  /**
   * UUID of the batch or refund.
   */
  id: string;
  network: Network;
  asset: Currency;
  /**
   * All of them, by place from 0.
   */
  items: {
    place: number;
    /**
     * The recipient's address.
     */
    to: string;
    /**
     * In the smallest unit (6 digits).
     */
    amount: string;
    memo: string | null;
  }[];
}
export interface Balance {
  currency: Currency;
  /**
   * What the merchant may spend, in the smallest unit (6 digits).
   */
  available: number;
  /**
   * Received, not yet decided, in the smallest unit (6 digits).
   */
  held: number;
  /**
   * Reserved by payouts, in the smallest unit (6 digits).
   */
  payout_hold: number;
  /**
   * Reserved by refunds, in the smallest unit (6 digits).
   */
  refund_hold: number;
  /**
   * From sanctioned senders, undecided, in the smallest unit (6 digits).
   */
  seized: number;
  /**
   * Service fees charged, in the smallest unit (6 digits).
   */
  fees: number;
  /**
   * Network fees paid in this currency, in the smallest unit (6 digits).
   */
  network_cost: number;
  custody: {
    /**
     * Money that is free to send, on Ethereum, in the smallest unit (6 digits).
     */
    erc20: number;
    /**
     * Money that is free to send, on Tron, in the smallest unit (6 digits).
     */
    trc20: number;
    /**
     * Money that is free to send, on Solana, in the smallest unit (6 digits).
     */
    spl: number;
  };
  custody_hold: {
    /**
     * What is reserved to be sent or seized on Ethereum, in the smallest unit (6 digits).
     */
    erc20: number;
    /**
     * What is reserved to be sent or seized on Tron, in the smallest unit (6 digits).
     */
    trc20: number;
    /**
     * What is reserved to be sent or seized on Solana, in the smallest unit (6 digits).
     */
    spl: number;
  };
}
export interface Balances {
  object: 'balances';
  data: Balance[];
}
export interface ChainControl {
  /**
   * Mines so many blocks now.
   */
  mine?: number;
  /**
   * Replaces so many of the newest blocks.
   */
  reorg?: number;
  /**
   * With reorg: payers' transfers lie in the newest block instead of vanishing.
   */
  remine?: boolean;
  /**
   * For so long we see nothing and send nothing.
   */
  outage_seconds?: number;
  /**
   * So many of our next broadcasts are lost.
   */
  drop_next?: number;
}
export interface ChainHeight {
  height: number;
  final_height: number;
}
export interface CheckoutSession {
  id: string;
  object: 'checkout.session';
  store_id: string;
  /**
   * As asked for.
   */
  amount: number;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  order_id: string | null;
  description: string | null;
  customer: string | null;
  customer_email: string | null;
  status: 'open' | 'processing' | 'completed' | 'expired' | 'canceled' | 'frozen';
  /**
   * The page on which the payer pays.
   */
  url: string;
  payment_id: string;
  success_url: string | null;
  cancel_url: string | null;
  expires_at: number | null;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
  /**
   * When it was made, Unix seconds.
   */
  created: number;
  completed_at: number | null;
}
export interface CheckoutSessionInput {
  /**
   * In the smallest unit of the currency: cents of USD, whole JPY, 6 digits of USDT and USDC.
   */
  amount: number;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  /**
   * Your own reference.
   */
  order_id?: string;
  /**
   * Shown to the payer.
   */
  description?: string;
  /**
   * Your own id of the customer; it may not begin with cus_. A new one is in NFC, without control and zero-width characters.
   */
  customer?: string;
  customer_email?: string;
  /**
   * Where the payer may go after paying.
   */
  success_url?: string;
  /**
   * Where the payer may go without paying.
   */
  cancel_url?: string;
  /**
   * Seconds.
   */
  expires_in?: number;
  /**
   * What the payer may choose from: all of the store's by default, for a price in USDT or USDC that token's.
   *
   * @minItems 1
   * @maxItems 6
   */
  payment_options?: PaymentOption[];
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface PaymentOption {
  currency: Currency;
  network: Network;
}
export interface ClockAdvance {
  seconds: number;
}
export interface ClockAdvanced {
  /**
   * The clock of the merchant, Unix seconds.
   */
  now: number;
  /**
   * False: stopped early at now; call again for the rest.
   */
  done: boolean;
}
export interface ClockState {
  /**
   * The clock of the merchant, Unix seconds.
   */
  now: number;
}
/**
 * A field without a value is absent.
 */
export interface Customer {
  id: string;
  object: 'customer';
  merchant_id: string;
  /**
   * Your own id, by which other calls name the customer.
   */
  external_customer_id: string;
  email?: string;
  name?: string;
  phone?: string;
  /**
   * The newest active payment method that was given at a checkout.
   */
  default_payment_method?: string;
  description?: string;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
}
/**
 * What is left out stays as it is.
 */
export interface CustomerChange {
  email?: string;
  name?: string;
  phone?: string;
  /**
   * For yourself.
   */
  description?: string;
}
export interface CustomerInput {
  /**
   * Your own id of the customer; it may not begin with cus_. A new one is in NFC, without control and zero-width characters.
   */
  external_customer_id: string;
  email?: string;
  name?: string;
  phone?: string;
  /**
   * For yourself.
   */
  description?: string;
}
/**
 * One event on its way to one endpoint.
 */
export interface Delivery {
  id: string;
  object: 'delivery';
  event_id: string;
  endpoint_id: string;
  /**
   * pending: to be sent or retried · delivered: acknowledged · failed: refused by an answer that is not retried · exhausted: all retries failed · paused: its endpoint is disabled.
   */
  status: 'pending' | 'delivered' | 'failed' | 'exhausted' | 'paused';
  /**
   * Oldest first; redeliveries are added to them.
   */
  attempts: DeliveryAttempt[];
  next_attempt_at: number | null;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
}
export interface DeliveryAttempt {
  /**
   * When it began, by the clock of the merchant, Unix seconds.
   */
  at: number;
  /**
   * Real time until its end.
   */
  duration_ms: number;
  status_code: number | null;
  failure:
    | ('http_status' | 'redirect' | 'timeout' | 'dns' | 'connection' | 'tls' | 'address_denied' | 'protocol')
    | null;
  response: string | null;
  request_headers: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z-]+$".
     */
    [k: string]: string | undefined;
  } | null;
}
/**
 * data.object is the resource as it stood after the change; previous_attributes holds the old values of the fields that changed, and is null when the change made the resource.
 */
export interface Event {
  /**
   * Equals X-Service-Event-ID of each delivery.
   */
  id: string;
  object: 'event';
  type:
    | 'payment.completed'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'subscription.created'
    | 'subscription.trialing'
    | 'subscription.active'
    | 'subscription.past_due'
    | 'subscription.canceled'
    | 'subscription.updated'
    | 'subscription.incomplete_expired'
    | 'invoice.created'
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'payout_batch.updated'
    | 'payout_item.updated'
    | 'refund.updated'
    | 'payment_method.updated'
    | 'payment.updated'
    | 'webhook_endpoint.disabled'
    | 'webhook_endpoint.test';
  api_version: string;
  /**
   * When the change was committed, by the clock of the merchant, Unix seconds.
   */
  created: number;
  store_id: string;
  livemode: boolean;
  /**
   * Starts at 1 and rises by 1 with each event of the resource: drop what is older than seen.
   */
  sequence: number;
  data: {
    object: {
      [k: string]: unknown | undefined;
    };
    previous_attributes: {
      [k: string]: unknown | undefined;
    } | null;
  };
}
export interface FundInput {
  currency: Currency;
  network: Network;
  /**
   * What to add to the balance and to the simulated custody, in the smallest unit (6 digits).
   */
  amount: number;
}
/**
 * A field without a value is absent.
 */
export interface Invoice {
  id: string;
  object: 'invoice';
  subscription_id: string;
  /**
   * The id of ours: cus_….
   */
  customer: string;
  /**
   * What is to be paid, in the smallest unit of the currency.
   */
  amount_due: number;
  /**
   * 0 until it is paid, then all of it, in the smallest unit of the currency.
   */
  amount_paid: number;
  /**
   * What is left to pay, in the smallest unit of the currency.
   */
  amount_remaining: number;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  payment_status: 'pending' | 'processing' | 'completed' | 'failed' | 'canceled' | 'expired';
  billing_reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  /**
   * How often, for people: Daily, Weekly, Monthly or Yearly.
   */
  frequency?: string;
  recurring_interval?: 'day' | 'week' | 'month' | 'year';
  /**
   * Always 1.
   */
  recurring_interval_count?: number;
  /**
   * Where the period that is paid for begins, Unix seconds.
   */
  period_start: number;
  /**
   * Where it ends, Unix seconds.
   */
  period_end: number;
  /**
   * By when it is to be paid, Unix seconds.
   */
  due_date?: number;
  /**
   * When it was opened, Unix seconds.
   */
  created: number;
  status: 'open' | 'paid' | 'void';
  /**
   * The session of its page (cs_…), else its newest charge (pay_…).
   */
  payment_id?: string;
  /**
   * When it was paid, Unix seconds.
   */
  paid_at?: number;
}
/**
 * An invoice that would be opened: without id and status.
 */
export interface InvoicePreview {
  object: 'invoice';
  subscription_id: string;
  /**
   * The id of ours: cus_….
   */
  customer: string;
  /**
   * What is to be paid, in the smallest unit of the currency.
   */
  amount_due: number;
  /**
   * 0 until it is paid, then all of it, in the smallest unit of the currency.
   */
  amount_paid: number;
  /**
   * What is left to pay, in the smallest unit of the currency.
   */
  amount_remaining: number;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  payment_status: 'pending' | 'processing' | 'completed' | 'failed' | 'canceled' | 'expired';
  billing_reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  /**
   * How often, for people: Daily, Weekly, Monthly or Yearly.
   */
  frequency?: string;
  recurring_interval?: 'day' | 'week' | 'month' | 'year';
  /**
   * Always 1.
   */
  recurring_interval_count?: number;
  /**
   * Where the period that is paid for begins, Unix seconds.
   */
  period_start: number;
  /**
   * Where it ends, Unix seconds.
   */
  period_end: number;
  /**
   * By when it is to be paid, Unix seconds.
   */
  due_date?: number;
  /**
   * When it was opened, Unix seconds.
   */
  created: number;
}
export interface LedgerEntry {
  id: string;
  object: 'ledger_entry';
  /**
   * Groups the entries of one change.
   */
  journal_id: string;
  /**
   * Account debited, such as available or custody:erc20.
   */
  debit: string;
  /**
   * Account credited.
   */
  credit: string;
  currency: Currency;
  network: Network | null;
  /**
   * What moved, in the smallest unit (6 digits).
   */
  amount: number;
  cause: {
    type: string;
    id: string;
  };
  /**
   * When it was booked, Unix seconds.
   */
  created: number;
}
export interface Mail {
  id: string;
  object: 'mail';
  kind:
    | 'receipt'
    | 'payment_underpaid'
    | 'payment_incomplete'
    | 'payment_late'
    | 'payment_wrong_token'
    | 'refund_claim'
    | 'refund_sent'
    | 'refund_paid'
    | 'subscription_begun'
    | 'renewal_short'
    | 'payment_failed'
    | 'subscription_ending'
    | 'subscription_canceled'
    | 'endpoint_failing'
    | 'endpoint_disabled'
    | 'payout_waiting'
    | 'payout_failed'
    | 'refund_waiting'
    | 'network_stopped'
    | 'invitation'
    | 'factors_reset';
  /**
   * The address.
   */
  to: string;
  /**
   * A language of the pages, such as en.
   */
  language: string;
  /**
   * Id of what it is about: a payment, a refund, a subscription, an endpoint, a payout batch or a person.
   */
  about: string;
  /**
   * `caught`: a sandbox sends none; `off`: no mail server is configured; `unconfirmed`: the connection ended before the mail server answered, and it is not sent twice.
   */
  status: 'caught' | 'pending' | 'sending' | 'sent' | 'failed' | 'unconfirmed' | 'off';
  attempts: number;
  error: string | null;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
  ended_at: number | null;
}
/**
 * Content is shown in a sandbox only: a mail may hold a link that only its recipient should open.
 */
export interface MailWithContent {
  id: string;
  object: 'mail';
  kind:
    | 'receipt'
    | 'payment_underpaid'
    | 'payment_incomplete'
    | 'payment_late'
    | 'payment_wrong_token'
    | 'refund_claim'
    | 'refund_sent'
    | 'refund_paid'
    | 'subscription_begun'
    | 'renewal_short'
    | 'payment_failed'
    | 'subscription_ending'
    | 'subscription_canceled'
    | 'endpoint_failing'
    | 'endpoint_disabled'
    | 'payout_waiting'
    | 'payout_failed'
    | 'refund_waiting'
    | 'network_stopped'
    | 'invitation'
    | 'factors_reset';
  /**
   * The address.
   */
  to: string;
  /**
   * A language of the pages, such as en.
   */
  language: string;
  /**
   * Id of what it is about: a payment, a refund, a subscription, an endpoint, a payout batch or a person.
   */
  about: string;
  /**
   * `caught`: a sandbox sends none; `off`: no mail server is configured; `unconfirmed`: the connection ended before the mail server answered, and it is not sent twice.
   */
  status: 'caught' | 'pending' | 'sending' | 'sent' | 'failed' | 'unconfirmed' | 'off';
  attempts: number;
  error: string | null;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
  ended_at: number | null;
  subject: string | null;
  text: string | null;
  html: string | null;
}
export interface NoFields {}
export interface Payment {
  id: string;
  object: 'payment';
  store_id: string;
  checkout_session: string | null;
  invoice: string | null;
  customer: string | null;
  order_id: string | null;
  amount: number;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'expired' | 'cancelled' | 'frozen';
  pay_currency: Currency | null;
  network: Network | null;
  pay_amount: number | null;
  exchange_rate: string | null;
  address: string | null;
  /**
   * Final transfers that count, in the smallest unit (6 digits).
   */
  amount_received: number;
  /**
   * Refunds of them that succeeded, in the smallest unit (6 digits).
   */
  amount_refunded: number;
  exceptions: ('underpaid' | 'overpaid' | 'late' | 'wrong_token' | 'canceled')[];
  transactions: PaymentTransaction[];
  decline_code: string | null;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
  completed_at: number | null;
  expires_at: number | null;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface PaymentTransaction {
  tx_id: string;
  /**
   * Place of the transfer in its transaction.
   */
  index: number;
  currency: Currency | null;
  network: Network;
  /**
   * The address of the payment that received it.
   */
  address: string;
  from: string;
  /**
   * What was received, in the smallest unit (6 digits).
   */
  amount: number;
  /**
   * counted towards the price · wrong_token: another listed token or option · seized: from a sanctioned sender · unlisted: another token, shown only.
   */
  kind: 'counted' | 'wrong_token' | 'seized' | 'unlisted';
  confirmations: number;
  required_confirmations: number;
  status: 'seen' | 'final' | 'gone';
  /**
   * When we or its block first saw it, Unix seconds.
   */
  seen_at: number;
  final_at: number | null;
}
export interface PaymentAcceptInput {
  /**
   * Takes this one wrong_token transfer as it is: `<tx_id>` or `<tx_id>:<index>`.
   */
  tx_id?: string;
}
export interface PaymentLink {
  id: string;
  object: 'payment_link';
  store_id: string;
  /**
   * What payers open, as often as they like.
   */
  url: string;
  amount: number | null;
  /**
   * Whether the payer says how much.
   */
  open: boolean;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  description: string | null;
  /**
   * Whether it can be paid.
   */
  active: boolean;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
}
/**
 * What is left out stays as it is.
 */
export interface PaymentLinkChange {
  active?: boolean;
}
export interface PaymentLinkInput {
  /**
   * In the smallest unit of the currency: cents of USD, whole JPY, 6 digits of USDT and USDC.
   */
  amount?: number;
  /**
   * Instead of `amount`: the payer says how much.
   */
  open?: true;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  /**
   * Shown to the payer.
   */
  description?: string;
}
export interface PaymentMethod {
  id: string;
  object: 'payment_method';
  /**
   * The id of ours: cus_….
   */
  customer: string;
  merchant_id: string;
  /**
   * The payer lets the service pull up to a cap in each period from the payer's own wallet.
   */
  type: 'wallet_mandate';
  currency: Currency;
  /**
   * 1 erc20, 2 trc20, 3 spl.
   */
  chain_type: number;
  /**
   * active: can be charged · inactive: balance or allowance is too low, or its term is over · revoked: for good · unknown: the network cannot be read.
   */
  status: 'active' | 'inactive' | 'revoked' | 'unknown';
  /**
   * What names the mandate on the network.
   */
  mandate_id: string;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
  /**
   * When it was given, Unix seconds.
   */
  created: number;
}
export interface PaymentMethodChangeInput {
  /**
   * What the wallet holds from now on, at 6 digits.
   */
  balance?: number;
  /**
   * What it allows to be pulled from now on, at 6 digits.
   */
  allowance?: number;
  /**
   * The payer takes the mandate back.
   */
  revoked?: true;
  /**
   * The service is not told: as on a real chain, it finds out at its next charge or check of the wallet, within the hour.
   */
  unnoticed?: true;
}
/**
 * What is left out stays as it is.
 */
export interface PaymentMethodUpdateInput {
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface PayoutBatch {
  batch_id: string;
  status:
    | 'draft'
    | 'needs_fix'
    | 'pending'
    | 'pending_approval'
    | 'processing'
    | 'partially_completed'
    | 'completed'
    | 'failed'
    | 'canceled'
    | 'rejected';
  currency: Currency;
  network: Network;
  total_count: number;
  valid_count: number;
  invalid_count: number;
  success_count: number;
  failed_count: number;
  /**
   * Sum of the valid items, a decimal string.
   */
  total_amount: string;
  /**
   * Fees of the valid items, a decimal string.
   */
  service_fee_amount: string;
  /**
   * Total and fees, fixed at submit, a decimal string.
   */
  debit_amount: string;
  /**
   * What is reserved and not yet paid, charged or released, a decimal string.
   */
  frozen_amount: string;
  /**
   * Fees of the items that succeeded, a decimal string.
   */
  charged_service_fee_amount: string;
  /**
   * Absent when the batch is canceled.
   */
  can_submit?: boolean;
  validation_errors: ValidationError[];
  description: string | null;
  /**
   * Creation, Unix seconds.
   */
  created_at: number;
  submitted_at: number | null;
  completed_at: number | null;
}
export interface ValidationError {
  /**
   * Path of the field at fault, such as items[3].address.
   */
  field: string;
  code: 'address_invalid' | 'network_mismatch' | 'token_not_supported' | 'address_risk';
  message: string;
}
export interface PayoutBatchInput {
  currency: Currency;
  /**
   * Free text.
   */
  description?: string;
  /**
   * @minItems 1
   * @maxItems 200
   */
  items: PayoutItemInput[];
}
export interface PayoutItemInput {
  /**
   * The recipient's name.
   */
  real_name?: string;
  network: Network;
  /**
   * The recipient's address on that network.
   */
  address: string;
  memo?: string;
  /**
   * Decimal string greater than 0 with at most two decimals.
   */
  amount: string;
}
/**
 * Error of the payout paths.
 */
export interface PayoutError {
  /**
   * The HTTP status.
   */
  code: number;
  message: string;
  errorCode: string;
  data: null;
}
export interface PayoutItem {
  item_id: string;
  batch_id: string;
  /**
   * Place in the batch as created; never changes.
   */
  index: number;
  real_name: string | null;
  network: Network;
  address: string;
  memo: string | null;
  /**
   * What the recipient gets, a decimal string.
   */
  amount: string;
  /**
   * Fee quoted for the item, a decimal string.
   */
  service_fee_amount: string;
  status: 'valid' | 'invalid' | 'queued' | 'processing' | 'succeeded' | 'failed' | 'canceled';
  validation_errors: ValidationError[];
  tx_id: string | null;
  failure_code: ('address_risk' | 'transfer_failed') | null;
  failure_message: string | null;
  /**
   * Creation, Unix seconds.
   */
  created_at: number;
  completed_at: number | null;
  lost_at: number | null;
}
export interface PortalSession {
  object: 'portal_session';
  /**
   * Where the customer sees and changes subscriptions and payment methods.
   */
  url: string;
  /**
   * Until when it opens, Unix seconds.
   */
  expires_at: number;
}
export interface PortalSessionInput {
  /**
   * Your own id of the customer; it may not begin with cus_. A new one is in NFC, without control and zero-width characters.
   */
  customer: string;
  /**
   * Where the customer may go from the portal.
   */
  return_url: string;
}
export interface PriceData {
  id?: string;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  /**
   * Your id or name of the product.
   */
  product: string;
  /**
   * For one, in the smallest unit of the currency.
   */
  unit_amount: number;
  recurring: RecurringConfig;
}
export interface RecurringConfig {
  interval: 'day' | 'week' | 'month' | 'year';
  /**
   * Always 1.
   */
  interval_count: number;
}
export interface RedeliverInput {
  /**
   * Compared with `created` of the events, Unix seconds.
   */
  since: number;
  /**
   * failed: deliveries that failed or are exhausted · missing: events of its types that have no delivery to it.
   */
  which: 'failed' | 'missing';
}
export interface Redelivery {
  object: 'redelivery';
  endpoint_id: string;
  /**
   * Deliveries that are sent again, or for the first time.
   */
  count: number;
}
export interface Refund {
  /**
   * As you named it.
   */
  refund_id: string;
  object: 'refund';
  store_id: string;
  payment_id: string;
  /**
   * What goes back, in the smallest unit (6 digits).
   */
  amount: number;
  currency: Currency;
  network: Network;
  address: string | null;
  claim_url: string | null;
  status: 'pending' | 'processing' | 'succeeded' | 'failed' | 'canceled';
  tx_id: string | null;
  failure_reason: ('address_risk' | 'transfer_failed') | null;
  waiting_for: ('merchant_suspended' | 'network_not_enabled' | 'network_paused' | 'coins') | null;
  reason: string | null;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
  /**
   * When it was made, Unix seconds.
   */
  created: number;
  completed_at: number | null;
  lost_at: number | null;
}
export interface RefundClaimInput {
  address: string;
}
export interface RefundInput {
  /**
   * Your own id of the refund and its idempotency key: 1 to 64 letters, digits, _ and -.
   */
  refund_id: string;
  /**
   * A payment (pay_…) or its session (cs_…).
   */
  payment_id: string;
  /**
   * At 6 digits; by default all that is left. Needs currency.
   */
  amount?: number;
  currency?: Currency;
  /**
   * Where the money goes, on the network it came on. Left out: the wallet that was proved, for no more than it sent; else the payer names it behind claim_url.
   */
  address?: string;
  /**
   * Refunds this one wrong_token transfer: `<tx_id>` or `<tx_id>:<index>`.
   */
  tx_id?: string;
  /**
   * For your own records.
   */
  reason?: string;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface SessionPayInput {
  currency: Currency;
  network: Network;
  /**
   * At 6 digits; by default what is left to pay.
   */
  amount?: number;
  /**
   * An address, `new` or `sanctioned`; by default always the same plain wallet.
   */
  from?: string;
  /**
   * True: answers when the transfer is credited. False: when it is seen in a block.
   */
  final?: boolean;
  /**
   * fake: a token that nobody lists.
   */
  token?: 'listed' | 'fake';
  /**
   * Splits the amount in one transaction.
   */
  transfers?: number;
  /**
   * The wallet proves itself, so that a refund may leave its address out.
   */
  connected?: boolean;
}
export interface SimulatedTransfer {
  id: string;
  object: 'simulated_transfer';
  tx_id: string;
  index: number;
  currency: Currency | null;
  from: string;
  to: string;
  amount: number;
  height: number;
  final: boolean;
}
/**
 * Error of every path but the payout paths.
 */
export interface StructuredError {
  error: {
    type: string;
    code?: string;
    message: string;
    param?: string;
    doc_url: string;
    decline_code?: string;
    request_log_url?: string;
    charge?: string;
  };
  request_id: string;
  /**
   * When the error happened, Unix seconds.
   */
  timestamp: number;
}
/**
 * A field without a value is absent; …_object only where it is expanded.
 */
export interface Subscription {
  id: string;
  object: 'subscription';
  /**
   * Your own id of the customer.
   */
  customer: string;
  store_id: string;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  description?: string;
  status: 'incomplete' | 'trialing' | 'active' | 'past_due' | 'canceled' | 'incomplete_expired';
  items: SubscriptionItem[];
  /**
   * What its invoices are charged to.
   */
  payment_method_id?: string;
  /**
   * From where its periods are counted, Unix seconds.
   */
  billing_cycle_anchor: number;
  /**
   * Where the last period that was paid, or the trial, begins; before the first payment that of the first invoice, Unix seconds.
   */
  current_period_start?: number;
  /**
   * Where it ends, Unix seconds.
   */
  current_period_end?: number;
  /**
   * When it was canceled, Unix seconds.
   */
  canceled_at?: number;
  /**
   * When it is to be canceled, Unix seconds.
   */
  cancel_at?: number;
  latest_invoice?: string;
  latest_invoice_object?: Invoice;
  customer_object?: Customer;
  payment_method_object?: PaymentMethod;
  /**
   * Where the customer pays first or gives a mandate; only in the answer of its creation.
   */
  checkout_url?: string;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
  /**
   * When it was made, Unix seconds.
   */
  created: number;
}
export interface SubscriptionItem {
  id: string;
  price_data: PriceData;
  quantity: number;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface SubscriptionAuthorizeInput {
  currency: Currency;
  network: Network;
  /**
   * What may be pulled in a period, at 6 digits; by default 10 times the sum of the items.
   */
  cap?: number;
  /**
   * What the new wallet holds, at 6 digits; by default 1,000,000 tokens.
   */
  balance?: number;
}
/**
 * Nothing: at once. Else one of the two.
 */
export interface SubscriptionCancelInput {
  cancel_at_period_end?: true;
  /**
   * When to cancel it, Unix seconds.
   */
  cancel_at?: number;
}
export interface SubscriptionInput {
  /**
   * Your own id of the customer; it may not begin with cus_. A new one is in NFC, without control and zero-width characters.
   */
  customer: string;
  customer_email?: string;
  customer_name?: string;
  customer_phone?: string;
  /**
   * An ISO 4217 code, `USDT` or `USDC`, in upper case.
   */
  currency: string;
  /**
   * Of one currency and one interval.
   *
   * @minItems 1
   * @maxItems 20
   */
  items: SubscriptionItemInput[];
  /**
   * Shown to the customer.
   */
  description?: string;
  /**
   * An active payment method of the customer, which is charged at once.
   */
  payment_method_id?: string;
  /**
   * Days before the first period.
   */
  trial_period_days?: number;
  /**
   * From where periods are counted: ahead, by one interval at most, and not with a trial, Unix seconds.
   */
  billing_cycle_anchor?: number;
  /**
   * When it is to be canceled, Unix seconds.
   */
  cancel_at?: number;
  /**
   * Where the customer may go after paying.
   */
  success_url?: string;
  /**
   * Where the customer may go without paying.
   */
  cancel_url?: string;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
export interface SubscriptionItemInput {
  price_data: {
    /**
     * An ISO 4217 code, `USDT` or `USDC`, in upper case.
     */
    currency: string;
    /**
     * Your id or name of the product, shown to the customer.
     */
    product: string;
    /**
     * For one, in the smallest unit of the currency.
     */
    unit_amount: number;
    recurring: {
      interval: 'day' | 'week' | 'month' | 'year';
      interval_count?: 1;
    };
  };
  quantity?: number;
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
}
/**
 * What is left out stays as it is.
 */
export interface SubscriptionUpdateInput {
  /**
   * Of one currency and one interval.
   *
   * @minItems 1
   * @maxItems 20
   */
  items?: SubscriptionItemInput[];
  /**
   * Free keys of yours; shown again as given. At most 40 characters each.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[\s\S]*$".
     */
    [k: string]: string | number | boolean | undefined;
  };
  /**
   * An active payment method of the customer, which is charged at once.
   */
  payment_method_id?: string;
  cancel_at?: number | null;
  /**
   * now: the rest of the period is charged or credited at once · period_end: from the next period on · none: at once, without a sum.
   */
  proration?: 'now' | 'period_end' | 'none';
}
export interface TestAddresses {
  erc20: {
    succeed: string;
    /**
     * The transfer fails on the chain.
     */
    fail: string;
    /**
     * Succeeds an hour of the clock after its first broadcast.
     */
    stuck: string;
    /**
     * Clean at creation, listed at submit.
     */
    risk_rejected: string;
  };
  trc20: {
    succeed: string;
    /**
     * The transfer fails on the chain.
     */
    fail: string;
    /**
     * Succeeds an hour of the clock after its first broadcast.
     */
    stuck: string;
    /**
     * Clean at creation, listed at submit.
     */
    risk_rejected: string;
  };
  spl: {
    succeed: string;
    /**
     * The transfer fails on the chain.
     */
    fail: string;
    /**
     * Succeeds an hour of the clock after its first broadcast.
     */
    stuck: string;
    /**
     * Clean at creation, listed at submit.
     */
    risk_rejected: string;
  };
}
export interface WebhookEndpoint {
  id: string;
  object: 'webhook_endpoint';
  store_id: string;
  /**
   * In the normal form of the URL standard.
   */
  url: string;
  /**
   * `*` stands for all types that the specification names; opt-in types are sent to endpoints that name them.
   *
   * @minItems 1
   * @maxItems 30
   */
  types: (
    | '*'
    | 'payment.completed'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'subscription.created'
    | 'subscription.trialing'
    | 'subscription.active'
    | 'subscription.past_due'
    | 'subscription.canceled'
    | 'subscription.updated'
    | 'subscription.incomplete_expired'
    | 'invoice.created'
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'payout_batch.updated'
    | 'payout_item.updated'
    | 'refund.updated'
    | 'payment_method.updated'
    | 'payment.updated'
    | 'webhook_endpoint.disabled'
  )[];
  status: 'enabled' | 'disabled';
  disabled_reason: ('by_request' | 'failing') | null;
  /**
   * When it was made, Unix seconds.
   */
  created: number;
}
/**
 * What is left out stays as it is.
 */
export interface WebhookEndpointChange {
  /**
   * Where events are sent: an https:// address without user information or fragment.
   */
  url?: string;
  /**
   * `*` stands for all types that the specification names; opt-in types are sent to endpoints that name them.
   *
   * @minItems 1
   * @maxItems 30
   */
  types?: (
    | '*'
    | 'payment.completed'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'subscription.created'
    | 'subscription.trialing'
    | 'subscription.active'
    | 'subscription.past_due'
    | 'subscription.canceled'
    | 'subscription.updated'
    | 'subscription.incomplete_expired'
    | 'invoice.created'
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'payout_batch.updated'
    | 'payout_item.updated'
    | 'refund.updated'
    | 'payment_method.updated'
    | 'payment.updated'
    | 'webhook_endpoint.disabled'
  )[];
  status?: 'enabled' | 'disabled';
}
export interface WebhookEndpointInput {
  /**
   * Where events are sent: an https:// address without user information or fragment.
   */
  url: string;
  /**
   * `*` stands for all types that the specification names; opt-in types are sent to endpoints that name them.
   *
   * @minItems 1
   * @maxItems 30
   */
  types?: (
    | '*'
    | 'payment.completed'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'subscription.created'
    | 'subscription.trialing'
    | 'subscription.active'
    | 'subscription.past_due'
    | 'subscription.canceled'
    | 'subscription.updated'
    | 'subscription.incomplete_expired'
    | 'invoice.created'
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'payout_batch.updated'
    | 'payout_item.updated'
    | 'refund.updated'
    | 'payment_method.updated'
    | 'payment.updated'
    | 'webhook_endpoint.disabled'
  )[];
}
