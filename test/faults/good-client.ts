import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type Credentials, signedHeaders } from '../signed-request.ts';

const ANSWER_WITHIN_MS = 20_000;
const TIMEOUT_MS = 90_000;
const PAUSE_MS = 100;
const REFUND_WITHIN_MS = 5_000;
/** The order reaches the chain within this time, or is lost with its server. */
const PAY_WITHIN_MS = 2_000;

/** A request as it went out and what came back: all that the checker knows of the service. */
export interface Exchange {
  url: string;
  method: string;
  headers: Record<string, string>;
  nonce: string;
  body: string | undefined;
  idempotencyKey: string | undefined;
  /** 0: the line was cut before an answer. */
  status: number;
  answer: Record<string, unknown>;
  text: string;
  retryAfter: string | null;
  /** Sent on purpose as something that has to be refused. */
  isHostile: boolean;
  /** The merchant was suspended when it was sent or when it was answered. */
  whileSuspended: boolean;
}

export interface RequestOptions {
  body?: object | undefined;
  idempotencyKey?: string;
  /** Index of the node to ask; any without. */
  node?: number;
  signal?: AbortSignal;
  /** Asks for something that has to be refused. */
  isHostile?: boolean;
}

export interface Recipient {
  real_name: string;
  network: string;
  address: string;
  amount: string;
}

/** A merchant's program as the documentation tells it to be: it never gives up, and reads before it repeats. */
export class GoodClient {
  readonly merchantId: string;
  /** Stands in everything that this merchant writes, and in nothing that another is told. */
  readonly canary = `canary ${randomUUID()}`;
  readonly exchanges: Exchange[] = [];
  /** As an operator's command names it. */
  get publicId(): string {
    return encodeId('merchant', this.merchantId);
  }
  /** Ids seen in a 2xx or a list, by idempotency key. */
  readonly idsByKey = new Map<string, Set<string>>();
  /** Ids of checkout sessions by idempotency key, and of the payment of each. */
  readonly sessionsByKey = new Map<string, Set<string>>();
  /** Batches whose submit or cancellation was acknowledged. */
  readonly submitted = new Set<string>();
  readonly canceled = new Set<string>();
  readonly credentials: Credentials;
  /** The operator has suspended it, or is about to: it is refused for that, and comes back later. */
  isSuspended = false;
  /** How far its clock is ahead of the real time. */
  aheadSeconds = 0;
  readonly #nodes: () => string[];
  #cents = 0;
  #refunds = 0;

  constructor(merchantId: string, credentials: Credentials, nodes: () => string[]) {
    this.merchantId = merchantId;
    this.credentials = credentials;
    this.#nodes = nodes;
  }

  /** A recipient's amount that no other item of this merchant has, so that a coin's movement tells its item. */
  nextAmount(): string {
    this.#cents += 1;
    return (1 + this.#cents / 100).toFixed(2);
  }

  /** One request, answered or not. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Exchange> {
    const { idempotencyKey, node, isHostile = false } = options;
    const nonce = randomUUID();
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const headers = signedHeaders(this.credentials, {
      nonce,
      timestamp: String(Math.floor(Date.now() / 1000) + this.aheadSeconds),
      ...(body === undefined ? {} : { body }),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    });
    const nodes = this.#nodes();
    const url = `${nodes[(node ?? randomInt(nodes.length)) % nodes.length]}/api/v1${path}`;
    const whileSuspended = this.isSuspended;
    const unanswered = { status: 0, answer: {}, text: '', retryAfter: null, isHostile, whileSuspended };
    const exchange = { url, method, headers, nonce, body, idempotencyKey, ...unanswered };
    return await this.send(exchange, options.signal);
  }

  /** Sends the bytes of an exchange, also once more, and keeps what came back. */
  async send(exchange: Exchange, signal?: AbortSignal): Promise<Exchange> {
    this.exchanges.push(exchange);
    const { url, method, headers, body } = exchange;
    const timeout = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, connection: 'close' },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        ...(body === undefined ? {} : { body }),
      });
      exchange.text = await response.text();
      exchange.retryAfter = response.headers.get('retry-after');
      exchange.answer = JSON.parse(exchange.text);
      exchange.status = response.status;
    } catch (error) {
      // Whatever was heard is worth nothing: half an answer is no answer.
      if (exchange.text !== '' && error instanceof SyntaxError) exchange.status = 599;
    }
    exchange.whileSuspended ||= this.isSuspended;
    this.#learn(exchange);
    return exchange;
  }

  /** The same bytes to a node, by somebody who has listened. */
  async replay(exchange: Exchange, node: number): Promise<Exchange> {
    const nodes = this.#nodes();
    const url = exchange.url.replace(/^http:\/\/[^/]+/, nodes[node % nodes.length] ?? '');
    return await this.send({ ...exchange, url, status: 0, answer: {}, text: '', isHostile: true });
  }

  /** Creates a batch whatever happens on the way. @returns its id */
  async create(items: readonly Recipient[], idempotencyKey: string = randomUUID()): Promise<string> {
    const body = { currency: 'USDT', items };
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const made = await this.request('POST', '/payout-batches', { body, idempotencyKey });
      if (made.status === 200) return String(made.answer.batch_id);
      if (!this.#isPassing(made)) throw new Error(`create was refused: ${made.status} ${made.text}`);
      const found = await this.find(idempotencyKey);
      if (found !== undefined) return found;
    }
    throw this.#gaveUp('create');
  }

  #gaveUp(what: string): Error {
    const refused = this.exchanges.findLast((one) => one.method === 'POST' && one.status === 503);
    const { url, status, text } = refused ?? {};
    return new Error(
      `no ${what} got through in ${TIMEOUT_MS} ms; the last refusal: ${url} ${status} ${text}`,
    );
  }

  /** The batch of a key, if a node can tell and there is one. */
  async find(idempotencyKey: string): Promise<string | undefined> {
    const path = `/payout-batches?idempotency_key=${idempotencyKey}`;
    const { status, answer } = await this.request('GET', path);
    const [first] = status === 200 ? (answer.data as { batch_id: string }[]) : [];
    if (first !== undefined) this.#see(idempotencyKey, first.batch_id);
    return first?.batch_id;
  }

  /** Submits a batch whatever happens on the way. */
  async submit(batchId: string): Promise<void> {
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const told = await this.request('POST', `/payout-batches/${batchId}/submit`, { body: {} });
      if (told.status === 200) return;
      if (told.answer.errorCode === 'batch_cannot_submit') return;
      if (!this.#isPassing(told)) throw new Error(`submit was refused: ${told.status} ${told.text}`);
      const { status, answer } = await this.request('GET', `/payout-batches/${batchId}`);
      if (status === 200 && answer.status !== 'draft') return;
    }
    throw this.#gaveUp('submit');
  }

  /** Opens a checkout session over so many units whatever happens on the way. @returns its id */
  async openSession(
    amount: number,
    idempotencyKey: string = randomUUID(),
    currency: 'USDT' | 'USD' = 'USDT',
  ): Promise<string> {
    const path = '/checkout/sessions/create';
    const body = { amount, currency, description: this.canary };
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const made = await this.request('POST', path, { body, idempotencyKey });
      if (made.status === 200) return String(made.answer.id);
      if (!this.#isPassing(made)) throw new Error(`a session was refused: ${made.status} ${made.text}`);
    }
    throw this.#gaveUp('session');
  }

  /** Makes a subscription whatever happens on the way. @returns it */
  async subscribe(
    items: readonly object[],
    idempotencyKey: string = randomUUID(),
  ): Promise<Record<string, unknown>> {
    const body = { customer: this.canary, currency: 'USD', items };
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const made = await this.request('POST', '/subscriptions/create', { body, idempotencyKey });
      if (made.status === 200) return made.answer;
      // A source of rates is broken for the moment.
      if (made.status === 400 && made.text.includes('no exchange rate')) continue;
      if (!this.#isPassing(made)) throw new Error(`a subscription was refused: ${made.status} ${made.text}`);
    }
    throw this.#gaveUp('subscription');
  }

  /** The session on whose page a subscription's first invoice is paid, where a node can tell. */
  async firstInvoice(subscriptionId: string): Promise<string | undefined> {
    const path = `/invoices?subscription=${subscriptionId}`;
    const { status, answer } = await this.request('GET', path);
    const [first] = status === 200 ? (answer.data as { payment_id?: string }[]) : [];
    return first?.payment_id;
  }

  /** One call that may be refused, as what it asks for has changed or ended meanwhile. */
  async tryTo(path: string, body: object): Promise<void> {
    await this.request('POST', path, { body });
  }

  /** A payer sends and does not wait to be told: what became of it is on the chain. */
  async pay(sessionId: string, payment: object): Promise<void> {
    const path = `/test_helpers/checkout/sessions/${sessionId}/pay`;
    await this.request('POST', path, { body: payment, signal: AbortSignal.timeout(PAY_WITHIN_MS) });
  }

  /**
   * Refunds a part of a session's payment as soon as it has final money: under one refund_id, whatever happens on the
   * way. Gives up where no money comes.
   *
   * @param address by default whoever is found to be the payer, or says so behind the link
   * @returns the refund, where it was made
   */
  async refund(
    sessionId: string,
    address?: string,
    tokens = 1,
  ): Promise<Record<string, unknown> | undefined> {
    this.#refunds += 1;
    const body = {
      refund_id: `refund-${this.#refunds}`,
      payment_id: sessionId,
      // No item pays parts of a cent, so that a coin's movement tells its refund.
      amount: tokens * 1_000_000 + this.#refunds,
      currency: 'USDT',
      reason: this.canary,
      ...(address === undefined ? {} : { address }),
    };
    for (const until = Date.now() + REFUND_WITHIN_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const made = await this.request('POST', '/refunds/create', { body });
      if (made.status === 200) return made.answer;
      if (!this.#isPassing(made) && made.status !== 400)
        throw new Error(`a refund was refused: ${made.status} ${made.text}`);
    }
    return undefined;
  }

  /** A call that may be repeated freely, until it is answered. @throws where it is refused */
  async insist(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
      const told = await this.request(method, path, { body });
      if (told.status === 200) return told.answer;
      if (!this.#isPassing(told))
        throw new Error(`${method} ${path} was refused: ${told.status} ${told.text}`);
    }
    throw new Error(`${method} ${path} did not get through in ${TIMEOUT_MS} ms`);
  }

  /** Come back later, or nobody knows. */
  #isPassing({ status, whileSuspended }: Exchange): boolean {
    return status === 0 || status === 503 || (status === 403 && whileSuspended);
  }

  #learn({ method, url, status, answer, idempotencyKey, isHostile }: Exchange): void {
    if (status !== 200 || method !== 'POST' || isHostile) return;
    if (answer.object === 'checkout.session' && idempotencyKey !== undefined) {
      const known = this.sessionsByKey.get(idempotencyKey) ?? new Set();
      this.sessionsByKey.set(idempotencyKey, known.add(String(answer.id)));
    }
    if (typeof answer.batch_id !== 'string') return;
    const batchId = answer.batch_id;
    if (idempotencyKey !== undefined) this.#see(idempotencyKey, batchId);
    if (url.endsWith('/submit')) this.submitted.add(batchId);
    if (url.endsWith('/cancel') && answer.status === 'canceled') this.canceled.add(batchId);
  }

  #see(idempotencyKey: string, batchId: string): void {
    const known = this.idsByKey.get(idempotencyKey) ?? new Set();
    this.idsByKey.set(idempotencyKey, known.add(batchId));
  }
}
