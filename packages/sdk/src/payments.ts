import { segment, type Transport } from './transport.ts';
import type { Payment, PaymentAcceptInput } from './types.ts';

/** Payments of sessions: received, counted and held money. Accepts session ids (`cs_…`), too. */
export class Payments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async retrieve(paymentId: string): Promise<Payment> {
    return this.#transport.send({ method: 'GET', path: paymentPath(paymentId), onDoubt: 'repeat' });
  }

  /**
   * Takes what is held as it is, too little or too late, and completes the payment; with `tx_id` one transfer of a wrong
   * token, which completes nothing. Throws InvalidRequestError where nothing waits for it.
   */
  async accept(paymentId: string, input: PaymentAcceptInput = {}): Promise<Payment> {
    const path = paymentPath(paymentId);
    const find = async (): Promise<Payment | undefined> => {
      const payment = await this.#transport.once<Payment>({ method: 'GET', path, onDoubt: 'repeat' });
      return payment.status === 'completed' ? payment : undefined;
    };
    // A payment does not show which wrong tokens are accepted, so a retry cannot check the effect.
    const onDoubt = input.tx_id === undefined ? find : 'stop';
    return this.#transport.send({ method: 'POST', path: `${path}/accept`, body: input, onDoubt });
  }
}

function paymentPath(paymentId: string): string {
  return `/payment/${segment(paymentId)}`;
}
