import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { Payment, PaymentAcceptInput, PaymentQuery } from './types.ts';

/** Payments of sessions: received, counted and held money. Accepts session ids (`cs_…`), too. */
export class Payments extends Resource {
  /**
   * The payments of the store, newest first: of sessions and links, and the charges of mandates.
   *
   * @example
   * ```ts
   * const today = Math.floor(Date.now() / 86_400_000) * 86_400;
   * for await (const payment of florin.payments.list({ status: 'completed', created: { gte: today } })) {
   *   console.log(payment.id, payment.amount_received);
   * }
   * ```
   */
  list(query: PaymentQuery = {}): CursorList<Payment> {
    return this.pages('/payments', query, (payment) => payment.id);
  }

  /**
   * A payment with its transfers, by its own id or its session's.
   *
   * @example
   * ```ts
   * const { status, amount_received } = await florin.payments.retrieve(paymentId);
   * ```
   */
  async retrieve(paymentId: string): Promise<Payment> {
    return this.read(paymentPath(paymentId));
  }

  /**
   * Takes what is held as it is, too little or too late, and completes the payment; with `tx_id` one transfer of a wrong
   * token, which completes nothing. Throws InvalidRequestError where nothing waits for it.
   *
   * @example
   * ```ts
   * const payment = await florin.payments.accept(paymentId);
   * console.log(payment.status); // completed
   * ```
   */
  async accept(paymentId: string, input: PaymentAcceptInput = {}): Promise<Payment> {
    const path = paymentPath(paymentId);
    const find = this.foundIf<Payment>(path, ({ status }) => status === 'completed');
    // A payment does not show which wrong tokens are accepted, so a retry cannot check the effect.
    return this.post(`${path}/accept`, input, input.tx_id === undefined ? find : 'stop');
  }
}

function paymentPath(paymentId: string): string {
  return `/payment/${segment(paymentId)}`;
}
