import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { PaymentMethod, PaymentMethodQuery, PaymentMethodUpdateInput } from './types.ts';

const PATH = '/payment_methods';

/** Mandates of customers' wallets, with which invoices are charged. */
export class PaymentMethods extends Resource {
  /**
   * The payment methods of the merchant, newest first. `customer` is your own id or ours.
   *
   * @example
   * ```ts
   * const { data } = await florin.paymentMethods.list({ customer: 'user-17', status: 'active' });
   * ```
   */
  list(query: PaymentMethodQuery = {}): CursorList<PaymentMethod> {
    return this.pages(PATH, query, (method) => method.id);
  }

  /**
   * A payment method, with its mandate.
   *
   * @example
   * ```ts
   * const { status, mandate_id } = await florin.paymentMethods.retrieve(paymentMethodId);
   * ```
   */
  async retrieve(paymentMethodId: string): Promise<PaymentMethod> {
    return this.read(methodPath(paymentMethodId));
  }

  /**
   * Changes a payment method. What is left out stays as it is.
   *
   * @example
   * ```ts
   * await florin.paymentMethods.update(paymentMethodId, { metadata: { wallet: 'main' } });
   * ```
   */
  async update(paymentMethodId: string, change: PaymentMethodUpdateInput): Promise<PaymentMethod> {
    const path = `${PATH}/${segment(paymentMethodId)}/update`;
    return this.amend(methodPath(paymentMethodId), change, { path });
  }

  /**
   * Detaches it for good: it is never charged again.
   *
   * @example
   * ```ts
   * const method = await florin.paymentMethods.revoke(paymentMethodId);
   * console.log(method.status); // revoked
   * ```
   */
  async revoke(paymentMethodId: string): Promise<PaymentMethod> {
    const isRevoked = ({ status }: PaymentMethod) => status === 'revoked';
    const find = this.foundIf(methodPath(paymentMethodId), isRevoked);
    return this.post(`${PATH}/${segment(paymentMethodId)}/revoke`, {}, find);
  }
}

function methodPath(paymentMethodId: string): string {
  return `/payment_method/${segment(paymentMethodId)}`;
}
