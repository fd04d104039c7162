import { Checkout } from './checkout.ts';
import type { CursorList } from './cursor-list.ts';
import { Customers } from './customers.ts';
import { Events } from './events.ts';
import { Invoices } from './invoices.ts';
import { PaymentLinks } from './payment-links.ts';
import { PaymentMethods } from './payment-methods.ts';
import { Payments } from './payments.ts';
import { Payouts } from './payouts.ts';
import { Portal } from './portal.ts';
import { Refunds } from './refunds.ts';
import { Resource } from './resource.ts';
import { Subscriptions } from './subscriptions.ts';
import { TestHelpers } from './test-helpers.ts';
import { Transport } from './transport.ts';
import type { Balances, LedgerEntry, LedgerEntryQuery } from './types.ts';
import { Deliveries, WebhookEndpoints } from './webhook-endpoints.ts';

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 2;
const BASE_PAUSE_MS = 500;

export interface FlorinOptions {
  /** Where the service answers, without `/api/v1`: HTTPS, or HTTP on this machine. */
  baseUrl: string;
  apiKey: string;
  /** Signs on this server and is never sent. */
  secretKey: string;
  /** For one attempt, until the answer is complete. Default 30,000. */
  timeoutMs?: number;
  /** After the first attempt, where repeating is safe. Default 2; 0 turns retries off. */
  maxRetries?: number;
  /** Base of the doubling, random pause before a retry. Default 500. */
  retryPauseMs?: number;
  /** In place of the global fetch, for a proxy or certificates of your own. */
  fetch?: typeof globalThis.fetch;
}

/**
 * Client of one merchant's key. Signs every request, makes idempotency keys, repeats only what is safe, and throws
 * FlorinError. Amounts go in as bigint (smallest unit) or decimal strings, never as numbers.
 */
export class Florin {
  readonly checkout: Checkout;
  readonly payments: Payments;
  readonly paymentLinks: PaymentLinks;
  readonly refunds: Refunds;
  readonly customers: Customers;
  readonly subscriptions: Subscriptions;
  readonly invoices: Invoices;
  readonly paymentMethods: PaymentMethods;
  readonly portal: Portal;
  readonly payouts: Payouts;
  readonly balances: BalancesResource;
  readonly ledgerEntries: LedgerEntries;
  readonly events: Events;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly deliveries: Deliveries;
  readonly testHelpers: TestHelpers;

  /** Throws a TypeError for options that could never work. */
  constructor(options: FlorinOptions) {
    const transport = new Transport({
      baseUrl: checkedBaseUrl(options.baseUrl),
      apiKey: checkedKey('apiKey', options.apiKey),
      secretKey: checkedKey('secretKey', options.secretKey),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      basePauseMs: options.retryPauseMs ?? BASE_PAUSE_MS,
      fetch: options.fetch ?? globalThis.fetch,
    });
    this.checkout = new Checkout(transport);
    this.payments = new Payments(transport);
    this.paymentLinks = new PaymentLinks(transport);
    this.refunds = new Refunds(transport);
    this.customers = new Customers(transport);
    this.subscriptions = new Subscriptions(transport);
    this.invoices = new Invoices(transport);
    this.paymentMethods = new PaymentMethods(transport);
    this.portal = new Portal(transport);
    this.payouts = new Payouts(transport);
    this.balances = new BalancesResource(transport);
    this.ledgerEntries = new LedgerEntries(transport);
    this.events = new Events(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
    this.deliveries = new Deliveries(transport);
    this.testHelpers = new TestHelpers(transport);
  }
}

class BalancesResource extends Resource {
  /** One row per currency, in base units (6 digits). */
  retrieve(): Promise<Balances> {
    return this.read('/balances');
  }
}

class LedgerEntries extends Resource {
  /** Every transfer of value of the merchant, newest first. */
  list(query: LedgerEntryQuery = {}): CursorList<LedgerEntry> {
    return this.pages('/ledger_entries', query, (entry) => entry.id);
  }
}

function checkedBaseUrl(text: string): string {
  if (!URL.canParse(text)) throw new TypeError(`baseUrl is not a URL: ${text}`);
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new TypeError('baseUrl is an origin and perhaps a path, without query, fragment and user');
  }
  const onThisMachine = /^(localhost|.+\.localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && onThisMachine)) {
    throw new TypeError(
      'baseUrl must be https: the API key would travel in the clear (http is for this machine only)',
    );
  }
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

function checkedKey(name: string, key: string): string {
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(`${name} is missing or holds white space or characters beyond ASCII`);
  }
  return key;
}
