import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { PaymentMethod, PaymentMethodQuery, PaymentMethodUpdateInput } from './types.ts';

const PATH = '/payment_methods';

/** Mandates of customers' wallets, with which invoices are charged. */
export class PaymentMethods extends Resource {
  /** Newest first. `customer` is your own id or ours. */
  list(query: PaymentMethodQuery = {}): CursorList<PaymentMethod> {
    return this.pages(PATH, query, (method) => method.id);
  }

  async retrieve(paymentMethodId: string): Promise<PaymentMethod> {
    return this.read(methodPath(paymentMethodId));
  }

  /** What is left out stays as it is. */
  async update(paymentMethodId: string, change: PaymentMethodUpdateInput): Promise<PaymentMethod> {
    const path = `${PATH}/${segment(paymentMethodId)}/update`;
    return this.amend(methodPath(paymentMethodId), change, { path });
  }

  /** Detaches it for good: it is never charged again. */
  async revoke(paymentMethodId: string): Promise<PaymentMethod> {
    const isRevoked = ({ status }: PaymentMethod) => status === 'revoked';
    const find = this.foundIf(methodPath(paymentMethodId), isRevoked);
    return this.post(`${PATH}/${segment(paymentMethodId)}/revoke`, {}, find);
  }
}

function methodPath(paymentMethodId: string): string {
  return `/payment_method/${segment(paymentMethodId)}`;
}
