import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { PaymentMethod, PaymentMethodQuery, PaymentMethodUpdateInput } from './types.ts';

const PATH = '/payment_methods';

/** Mandates of customers' wallets, with which invoices are charged. */
export class PaymentMethods {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. `customer` is your own id or ours. */
  list(query: PaymentMethodQuery = {}): CursorList<PaymentMethod> {
    return new CursorList(this.#transport, PATH, query, (method) => method.id);
  }

  async retrieve(paymentMethodId: string): Promise<PaymentMethod> {
    const path = `/payment_method/${segment(paymentMethodId)}`;
    return this.#transport.send({ method: 'GET', path, onDoubt: 'repeat' });
  }

  /** What is left out stays as it is. */
  async update(paymentMethodId: string, change: PaymentMethodUpdateInput): Promise<PaymentMethod> {
    // The change is idempotent, so a read is enough before a retry.
    const read = async (): Promise<undefined> => {
      await this.#once(paymentMethodId);
    };
    const path = `${PATH}/${segment(paymentMethodId)}/update`;
    return this.#transport.send<PaymentMethod>({ method: 'POST', path, body: change, onDoubt: read });
  }

  /** Detaches it for good: it is never charged again. */
  async revoke(paymentMethodId: string): Promise<PaymentMethod> {
    const find = async (): Promise<PaymentMethod | undefined> => {
      const method = await this.#once(paymentMethodId);
      return method.status === 'revoked' ? method : undefined;
    };
    const path = `${PATH}/${segment(paymentMethodId)}/revoke`;
    return this.#transport.send({ method: 'POST', path, body: {}, onDoubt: find });
  }

  #once(paymentMethodId: string): Promise<PaymentMethod> {
    const path = `/payment_method/${segment(paymentMethodId)}`;
    return this.#transport.once({ method: 'GET', path, onDoubt: 'repeat' });
  }
}
