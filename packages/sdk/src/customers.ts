import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { Customer, CustomerChange, CustomerInput, CustomerQuery, Page } from './types.ts';

const PATH = '/customers';

/** Customers. Calls that name a new customer by your own id create it. */
export class Customers extends Resource {
  /** Throws InvalidRequestError (param `external_customer_id`) for an id that is known. */
  async create(customer: CustomerInput): Promise<Customer> {
    const find = async (): Promise<Customer | undefined> => {
      const query = { external_customer_id: customer.external_customer_id, limit: 1 };
      const page = await this.get<Page<Customer>>(PATH, query);
      return page.data.find((found) => isMadeOf(found, customer));
    };
    return this.post(`${PATH}/create`, customer, find);
  }

  async retrieve(customerId: string): Promise<Customer> {
    return this.read(customerPath(customerId));
  }

  /** Newest first. */
  list(query: CustomerQuery = {}): CursorList<Customer> {
    return this.pages(PATH, query, (customer) => customer.id);
  }

  /** What is left out stays as it is. */
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
