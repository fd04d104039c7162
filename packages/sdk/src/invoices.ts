import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { Invoice, InvoiceQuery } from './types.ts';

const PATH = '/invoices';

/** Invoices of subscriptions, one per period. */
export class Invoices extends Resource {
  /**
   * The invoices of the store, newest first. `customer` is your own id or ours.
   *
   * @example
   * ```ts
   * const { data } = await florin.invoices.list({ customer: 'user-17', status: 'open' });
   * ```
   */
  list(query: InvoiceQuery = {}): CursorList<Invoice> {
    return this.pages(PATH, query, (invoice) => invoice.id);
  }

  /**
   * An invoice with its lines.
   *
   * @example
   * ```ts
   * const { status, amount_due } = await florin.invoices.retrieve(invoiceId);
   * ```
   */
  async retrieve(invoiceId: string): Promise<Invoice> {
    return this.read(invoicePath(invoiceId));
  }

  /**
   * Charges the payment method of the subscription now. The answer is `processing`; an event tells how it ends. Throws
   * InvalidRequestError for what cannot be charged, with `declineCode` and `charge` where the charge could not succeed.
   *
   * @example
   * ```ts
   * const invoice = await florin.invoices.pay(invoiceId);
   * console.log(invoice.payment_status); // processing
   * ```
   */
  async pay(invoiceId: string): Promise<Invoice> {
    const path = invoicePath(invoiceId);
    const isUnderWay = (invoice: Invoice) =>
      invoice.status === 'paid' || invoice.payment_status === 'processing';
    return this.post(`${path}/pay`, {}, this.foundIf(path, isUnderWay));
  }
}

function invoicePath(invoiceId: string): string {
  return `${PATH}/${segment(invoiceId)}`;
}
