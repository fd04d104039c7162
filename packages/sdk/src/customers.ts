import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { Customer, CustomerChange, CustomerInput, CustomerQuery, Page } from './types.ts';

const PATH = '/customers';

/** Who pays. Calls that name a customer by your own id make it if it is new. */
export class Customers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Throws InvalidRequestError (param `external_customer_id`) for an id that is known. */
  async create(customer: CustomerInput): Promise<Customer> {
    const find = async (): Promise<Customer | undefined> => {
      const query = { external_customer_id: customer.external_customer_id, limit: 1 };
      const page = await this.#once<Page<Customer>>(PATH, query);
      return page.data.find((found) => isMadeOf(found, customer));
    };
    const path = `${PATH}/create`;
    return this.#transport.send({ method: 'POST', path, body: customer, onDoubt: find });
  }

  async retrieve(customerId: string): Promise<Customer> {
    return this.#transport.send({ method: 'GET', path: customerPath(customerId), onDoubt: 'repeat' });
  }

  /** Newest first. */
  list(query: CustomerQuery = {}): CursorList<Customer> {
    return new CursorList(this.#transport, PATH, query, (customer) => customer.id);
  }

  /** What is left out stays as it is. */
  async update(customerId: string, change: CustomerChange): Promise<Customer> {
    const path = customerPath(customerId);
    // The same change a second time changes nothing, so that reading it is all that is due before a repeat.
    const read = async (): Promise<undefined> => {
      await this.#once<Customer>(path);
    };
    return this.#transport.send<Customer>({
      method: 'POST',
      path: `${path}/update`,
      body: change,
      onDoubt: read,
    });
  }

  #once<T>(path: string, query: Record<string, string | number> = {}): Promise<T> {
    return this.#transport.once({ method: 'GET', path, query, onDoubt: 'repeat' });
  }
}

/** A customer that was there before, with other details, is not what a create in doubt has made. */
function isMadeOf(customer: Customer, input: CustomerInput): boolean {
  return (['email', 'name', 'phone', 'description'] as const).every((key) => customer[key] === input[key]);
}

function customerPath(customerId: string): string {
  return `${PATH}/${segment(customerId)}`;
}
