import { priceUnits } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment, type Transport } from './transport.ts';
import type { CheckoutSession, CheckoutSessionInput, CheckoutSessionQuery, CreateOptions } from './types.ts';

const SESSIONS = '/checkout/sessions';

/** Payment sessions: each has a page on which the payer chooses a token and network, and pays. */
export class Checkout {
  readonly sessions: CheckoutSessions;

  constructor(transport: Transport) {
    this.sessions = new CheckoutSessions(transport);
  }
}

class CheckoutSessions extends Resource {
  /**
   * Send the payer to the `url` of the answer. A create that may or may not have happened is repeated with the same
   * Idempotency-Key, which makes one session of both. Throws InvalidRequestError for a price that cannot be paid,
   * ConflictError for a key that stands for another request, and the common ones.
   *
   * @example
   * ```ts
   * const session = await florin.checkout.sessions.create(
   *   { amount: 1999, currency: 'EUR', order_id: orderId, success_url: 'https://shop.example/thanks' },
   *   { idempotencyKey: orderId },
   * );
   * console.log(session.url); // send the payer here
   * ```
   */
  async create(session: CheckoutSessionInput, options: CreateOptions = {}): Promise<CheckoutSession> {
    const body = { ...session, amount: priceUnits(session.amount) };
    return this.createOnce(`${SESSIONS}/create`, body, options);
  }

  /**
   * The sessions of the store, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.checkout.sessions.list({ status: 'open', limit: 20 });
   * ```
   */
  list(query: CheckoutSessionQuery = {}): CursorList<CheckoutSession> {
    return this.pages(SESSIONS, query, (session) => session.id);
  }

  /**
   * A session, with the status of its page.
   *
   * @example
   * ```ts
   * const { status, payment_id } = await florin.checkout.sessions.retrieve(sessionId);
   * ```
   */
  async retrieve(sessionId: string): Promise<CheckoutSession> {
    return this.read(sessionPath(sessionId));
  }

  /**
   * Ends a session that is `open`. Money that comes afterwards is held: accept or refund it.
   *
   * @example
   * ```ts
   * const session = await florin.checkout.sessions.cancel(sessionId);
   * console.log(session.status); // canceled
   * ```
   */
  async cancel(sessionId: string): Promise<CheckoutSession> {
    const path = sessionPath(sessionId);
    const find = this.foundIf<CheckoutSession>(path, ({ status }) => status === 'canceled');
    return this.post(`${path}/cancel`, {}, find);
  }
}

function sessionPath(sessionId: string): string {
  return `${SESSIONS}/${segment(sessionId)}`;
}
