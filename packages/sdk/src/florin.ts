import { Checkout } from './checkout.ts';
import type { CursorList } from './cursor-list.ts';
import { Customers } from './customers.ts';
import { Events } from './events.ts';
import { Invoices } from './invoices.ts';
import { Mails } from './mails.ts';
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
import type { Balances, CallOptions, LedgerEntry, LedgerEntryQuery } from './types.ts';
import { Deliveries, WebhookEndpoints } from './webhook-endpoints.ts';

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 2;
const BASE_PAUSE_MS = 500;
const VARIABLES = ['FLORIN_BASE_URL', 'FLORIN_API_KEY', 'FLORIN_SECRET_KEY'] as const;

export interface FlorinOptions {
  /** Where the service answers, without `/api/v1`: HTTPS, or HTTP on this machine (see `allowInsecureHttp`). */
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
  /** Ends every call with its reason. */
  signal?: AbortSignal;
  /**
   * HTTP to this very host, such as `florin` beside the shop in a network of containers. Anybody on
   * the network between the two can read the API key and the answers.
   */
  allowInsecureHttp?: string;
  /** In place of the global fetch, for a proxy or certificates of your own. */
  fetch?: typeof globalThis.fetch;
}

/**
 * Client of one merchant's key. Signs every request, makes idempotency keys, repeats only what is safe, and throws
 * FlorinError. Tokens go in as bigint (base units) or decimal strings, prices as whole numbers of the currency's smallest unit.
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
  readonly mails: Mails;
  readonly testHelpers: TestHelpers;

  readonly #options: FlorinOptions;

  /**
   * Throws a TypeError for options that could never work.
   *
   * @example
   * ```ts
   * const florin = new Florin({
   *   baseUrl: 'https://pay.example',
   *   apiKey: process.env.FLORIN_API_KEY ?? '',
   *   secretKey: process.env.FLORIN_SECRET_KEY ?? '',
   * });
   * ```
   */
  constructor(options: FlorinOptions) {
    this.#options = options;
    const transport = new Transport({
      baseUrl: checkedBaseUrl(options.baseUrl, options.allowInsecureHttp),
      apiKey: checkedKey('apiKey', options.apiKey),
      secretKey: checkedKey('secretKey', options.secretKey),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      basePauseMs: options.retryPauseMs ?? BASE_PAUSE_MS,
      fetch: options.fetch ?? globalThis.fetch,
      signal: options.signal,
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
    this.mails = new Mails(transport);
    this.testHelpers = new TestHelpers(transport);
  }

  /**
   * The client of `FLORIN_BASE_URL`, `FLORIN_API_KEY` and `FLORIN_SECRET_KEY`. Throws a TypeError that names those that are
   * not set.
   *
   * @example
   * ```ts
   * const florin = Florin.fromEnv({ timeoutMs: 10_000 });
   * const { data } = await florin.payments.list({ order_id: 'A-17' });
   * ```
   */
  static fromEnv(
    options: Partial<FlorinOptions> = {},
    env: Readonly<Record<string, string | undefined>> = process.env,
  ): Florin {
    const [baseUrl, apiKey, secretKey] = VARIABLES.map((name) => env[name]);
    const missing = VARIABLES.filter((name) => !env[name]);
    if (!baseUrl || !apiKey || !secretKey) throw new TypeError(`${missing.join(', ')} must be set`);
    return new Florin({ baseUrl, apiKey, secretKey, ...options });
  }

  /**
   * The same client with other settings of its calls: for one call that has less time, or that somebody may end.
   *
   * @example
   * ```ts
   * const patient = florin.withOptions({ timeoutMs: 60_000, signal: AbortSignal.timeout(120_000) });
   * await patient.payouts.submit('pb_01hzy3v9k2e7q8r5t6w1x4a0bc');
   * ```
   */
  withOptions(options: CallOptions): Florin {
    return new Florin({ ...this.#options, ...options });
  }
}

class BalancesResource extends Resource {
  /**
   * One row per currency, in base units (6 digits).
   *
   * @example
   * ```ts
   * const { data } = await florin.balances.retrieve();
   * console.log(data.map(({ currency, available }) => `${available} ${currency}`));
   * ```
   */
  retrieve(): Promise<Balances> {
    return this.read('/balances');
  }
}

class LedgerEntries extends Resource {
  /**
   * Every transfer of value of the merchant, newest first.
   *
   * @example
   * ```ts
   * for await (const entry of florin.ledgerEntries.list({ limit: 100 })) console.log(entry.amount, entry.currency);
   * ```
   */
  list(query: LedgerEntryQuery = {}): CursorList<LedgerEntry> {
    return this.pages('/ledger_entries', query, (entry) => entry.id);
  }
}

function checkedBaseUrl(text: string, insecureHost: string | undefined): string {
  if (!URL.canParse(text)) throw new TypeError(`baseUrl is not a URL: ${text}`);
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new TypeError('baseUrl is an origin and perhaps a path, without query, fragment and user');
  }
  const onThisMachine = /^(localhost|.+\.localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname);
  const isAllowed =
    onThisMachine || (insecureHost !== undefined && url.hostname === insecureHost.toLowerCase());
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed)) {
    throw new TypeError(
      'baseUrl must be https: the API key would travel in the clear (http is for this machine, or the host in allowInsecureHttp)',
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
