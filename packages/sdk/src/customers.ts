import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { Customer, CustomerChange, CustomerInput, CustomerQuery, Page } from './types.ts';

const PATH = '/customers';

/** Customers. Calls that name a new customer by your own id create it. */
export class Customers extends Resource {
  /**
   * Creates a customer. Throws InvalidRequestError (param `external_customer_id`) for an id that is known.
   *
   * @example
   * ```ts
   * const customer = await florin.customers.create({ external_customer_id: 'user-17', email: 'ada@example.com' });
   * ```
   */
  async create(customer: CustomerInput): Promise<Customer> {
    const find = async (): Promise<Customer | undefined> => {
      const query = { external_customer_id: customer.external_customer_id, limit: 1 };
      const page = await this.get<Page<Customer>>(PATH, query);
      return page.data.find((found) => isMadeOf(found, customer));
    };
    return this.post(`${PATH}/create`, customer, find);
  }

  /**
   * A customer, by your own id or ours.
   *
   * @example
   * ```ts
   * const { email } = await florin.customers.retrieve('user-17');
   * ```
   */
  async retrieve(customerId: string): Promise<Customer> {
    return this.read(customerPath(customerId));
  }

  /**
   * The customers of the merchant, newest first.
   *
   * @example
   * ```ts
   * for await (const customer of florin.customers.list()) console.log(customer.id, customer.name);
   * ```
   */
  list(query: CustomerQuery = {}): CursorList<Customer> {
    return this.pages(PATH, query, (customer) => customer.id);
  }

  /**
   * Changes a customer. What is left out stays as it is.
   *
   * @example
   * ```ts
   * await florin.customers.update('user-17', { email: 'ada@new.example' });
   * ```
   */
  async update(customerId: string, change: CustomerChange): Promise<Customer> {
    return this.amend(customerPath(customerId), change);
  }
}

/** An existing customer with other details was not created by the attempt in doubt. */
function isMadeOf(customer: Customer, input: CustomerInput): boolean {
  return (['email', 'name', 'phone', 'description'] as const).every((key) => customer[key] === input[key]);
}

function customerPath(customerId: string): string {
  return `${PATH}/${segment(customerId)}`;
}
