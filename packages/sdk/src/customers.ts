import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { Customer, CustomerChange, CustomerInput, CustomerQuery, Page } from './types.ts';

const PATH = '/customers';

/** Customers. Calls that name a new customer by your own id create it. */
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
    // The change is idempotent, so a read is enough before a retry.
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

/** An existing customer with other details was not created by the attempt in doubt. */
function isMadeOf(customer: Customer, input: CustomerInput): boolean {
  return (['email', 'name', 'phone', 'description'] as const).every((key) => customer[key] === input[key]);
}

function customerPath(customerId: string): string {
  return `${PATH}/${segment(customerId)}`;
}
