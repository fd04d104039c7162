import type { Customer } from '@florin/contract/schemas';
import { LISTS } from '../ahead.ts';
import { Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { CopyId, Maybe, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { EditCustomer, NewCustomer } from './customer-form.tsx';
import { PortalLink } from './portal-link.tsx';
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

export function CustomersPage() {
  const mayEdit = useMay('edit_checkout');
  return <List definition={CUSTOMERS} actions={mayEdit && <NewCustomer />} />;
}

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

export function CustomerPage() {
  const mayEdit = useMay('edit_checkout');
  return (
    <Detail<Customer>
      list={{ title: 'Customers', folder: 'customers' }}
      path={(id) => `${PATH}/${encodeURIComponent(id)}`}
      title={({ name, external_customer_id }) => name ?? external_customer_id}
      actions={(customer) => (
        <>
          <PortalLink customer={customer.external_customer_id} />
          {mayEdit && <EditCustomer customer={customer} />}
        </>
      )}
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
}
