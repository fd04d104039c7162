import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { Invoice, InvoiceQuery } from './types.ts';

const PATH = '/invoices';

/** Invoices of subscriptions, one per period. */
export class Invoices {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. `customer` is your own id or ours. */
  list(query: InvoiceQuery = {}): CursorList<Invoice> {
    return new CursorList(this.#transport, PATH, query, (invoice) => invoice.id);
  }

  async retrieve(invoiceId: string): Promise<Invoice> {
    return this.#transport.send({ method: 'GET', path: invoicePath(invoiceId), onDoubt: 'repeat' });
  }

  /**
   * Charges the payment method of the subscription now. The answer is `processing`; an event tells how it ends. Throws
   * InvalidRequestError for what cannot be charged, with `declineCode` and `charge` where the charge could not succeed.
   */
  async pay(invoiceId: string): Promise<Invoice> {
    const path = invoicePath(invoiceId);
    const find = async (): Promise<Invoice | undefined> => {
      const invoice = await this.#transport.once<Invoice>({ method: 'GET', path, onDoubt: 'repeat' });
      const isUnderWay = invoice.status === 'paid' || invoice.payment_status === 'processing';
      return isUnderWay ? invoice : undefined;
    };
    return this.#transport.send({ method: 'POST', path: `${path}/pay`, body: {}, onDoubt: find });
  }
}

function invoicePath(invoiceId: string): string {
  return `${PATH}/${segment(invoiceId)}`;
}
