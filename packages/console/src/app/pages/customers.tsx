import type { Customer } from '@florin/contract/schemas';
import { LISTS } from '../ahead.ts';
import { Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { CopyId, Maybe, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { ResourceLink } from '../resource-link.tsx';
import { FirstCustomer } from './sandbox/first-rows.tsx';

const PATH = LISTS.customers;

const CUSTOMERS: ListDefinition<Customer> = {
  title: 'Customers',
  path: PATH,
  folder: 'customers',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Your id', cell: ({ external_customer_id }) => external_customer_id },
    { title: 'Name', cell: ({ name }) => <Maybe>{name}</Maybe> },
    { title: 'E-mail', cell: ({ email }) => <Maybe>{email}</Maybe> },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'email', label: 'E-mail' },
    { name: 'external_customer_id', label: 'Your id' },
  ],
  empty: {
    text: 'No customers yet. Sessions and subscriptions that name one make it; so does this:',
    command: 'npx florin customers create customer-17',
    sandbox: <FirstCustomer />,
  },
};

export const CustomersPage = () => <List definition={CUSTOMERS} />;

const factsOf = (customer: Customer) =>
  [
    ['Your id', customer.external_customer_id],
    ['Name', customer.name],
    ['E-mail', customer.email],
    ['Phone', customer.phone],
    ['Description', customer.description],
    [
      'Payment method',
      customer.default_payment_method && (
        <ResourceLink folder="payment-methods" id={customer.default_payment_method} />
      ),
    ],
    ['Created', <Time key="created" at={customer.created} />],
  ] as const;

export const CustomerPage = () => (
  <Detail<Customer>
    list={{ title: 'Customers', folder: 'customers' }}
    path={(id) => `${PATH}/${encodeURIComponent(id)}`}
    title={({ name, external_customer_id }) => name ?? external_customer_id}
  >
    {(customer) => (
      <>
        <Facts facts={factsOf(customer)} />
        <Section title="Theirs">
          {(['payments', 'subscriptions', 'invoices'] as const).map((folder) => (
            <FilteredLink
              key={folder}
              folder={folder}
              filters={{ customer: customer.external_customer_id }}
            />
          ))}
        </Section>
      </>
    )}
  </Detail>
);
