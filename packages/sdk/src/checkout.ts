import { randomUUID } from 'node:crypto';
import { priceUnits } from './amounts.ts';
import { segment, type Transport } from './transport.ts';
import type { CheckoutSession, CheckoutSessionInput, CreateOptions } from './types.ts';

const SESSIONS = '/checkout/sessions';

/** Payment sessions: each has a page on which the payer chooses a token and network, and pays. */
export class Checkout {
  readonly sessions: CheckoutSessions;

  constructor(transport: Transport) {
    this.sessions = new CheckoutSessions(transport);
  }
}

class CheckoutSessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Send the payer to the `url` of the answer. A create that may or may not have happened is repeated with the same
   * Idempotency-Key, which makes one session of both. Throws InvalidRequestError for a price that cannot be paid,
   * ConflictError for a key that stands for another request, and the common ones.
   */
  async create(session: CheckoutSessionInput, options: CreateOptions = {}): Promise<CheckoutSession> {
    return this.#transport.send({
      method: 'POST',
      path: `${SESSIONS}/create`,
      body: { ...session, amount: priceUnits(session.amount) },
      idempotencyKey: options.idempotencyKey ?? randomUUID(),
      onDoubt: 'repeat',
    });
  }

  async retrieve(sessionId: string): Promise<CheckoutSession> {
    return this.#transport.send({ method: 'GET', path: sessionPath(sessionId), onDoubt: 'repeat' });
  }

  /** Ends a session that is `open`. Money that comes afterwards is held: accept or refund it. */
  async cancel(sessionId: string): Promise<CheckoutSession> {
    const path = sessionPath(sessionId);
    const find = async (): Promise<CheckoutSession | undefined> => {
      const session = await this.#transport.once<CheckoutSession>({ method: 'GET', path, onDoubt: 'repeat' });
      return session.status === 'canceled' ? session : undefined;
    };
    return this.#transport.send({ method: 'POST', path: `${path}/cancel`, body: {}, onDoubt: find });
  }
}

function sessionPath(sessionId: string): string {
  return `${SESSIONS}/${segment(sessionId)}`;
}
