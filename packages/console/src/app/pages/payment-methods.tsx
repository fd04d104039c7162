import type { PaymentMethod } from '@florin/contract/schemas';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { CopyId, NETWORK_NAMES, Status, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { FirstSubscription } from './sandbox/first-rows.tsx';
import { ChangeWallet } from './sandbox/payer.tsx';

const PATH = '/api/v1/payment_methods';
const NETWORKS: Readonly<Record<number, string | undefined>> = {
  1: NETWORK_NAMES.erc20,
  2: NETWORK_NAMES.trc20,
  3: NETWORK_NAMES.spl,
};

const METHODS: ListDefinition<PaymentMethod> = {
  title: 'Payment methods',
  path: PATH,
  folder: 'payment-methods',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Kind', cell: ({ currency }) => `${currency} mandate` },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Network', cell: ({ chain_type: chain }) => NETWORKS[chain] },
    { title: 'Customer', cell: ({ customer }) => <ResourceLink folder="customers" id={customer} /> },
    { title: 'Given', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'customer', label: 'Customer' },
    { name: 'status', label: 'Status', options: ['active', 'inactive', 'revoked', 'unknown'] },
    { name: 'network', label: 'Network', options: ['erc20', 'trc20', 'spl'] },
  ],
  empty: {
    text: 'No payment methods yet: payers give a mandate on the page of a subscription. In a sandbox:',
    command: 'npx florin subscriptions --help',
    sandbox: <FirstSubscription />,
  },
};

export const PaymentMethodsPage = () => <List definition={METHODS} />;

const pathOf = (id: string) => `/api/v1/payment_method/${encodeURIComponent(id)}`;

const factsOf = ({ customer, currency, chain_type: chain, mandate_id: mandate, created }: PaymentMethod) =>
  [
    ['Customer', <ResourceLink key="customer" folder="customers" id={customer} />],
    ['Token', currency],
    ['Network', NETWORKS[chain]],
    ['Mandate', <CopyId key="mandate" id={mandate} />],
    ['Given', <Time key="created" at={created} />],
  ] as const;

/** A wallet that may be charged. */
export function PaymentMethodPage() {
  const mayRevoke = useMay('edit_subscriptions');
  return (
    <Detail<PaymentMethod>
      list={{ title: 'Payment methods', folder: 'payment-methods' }}
      path={pathOf}
      title={({ currency }) => `${currency} mandate`}
      actions={({ id, status }) =>
        status !== 'revoked' && (
          <>
            <ChangeWallet method={id} />
            {mayRevoke && (
              <Action
                label="Revoke"
                question="Charge this wallet no more? It is for good; what the wallet allows only its payer can take back."
                path={`${PATH}/${encodeURIComponent(id)}/revoke`}
                isDangerous
              />
            )}
          </>
        )
      }
    >
      {(method) => (
        <>
          <Status name={method.status} />
          <Facts facts={factsOf(method)} />
          <Section title="Charged by it">
            <FilteredLink folder="subscriptions" filters={{ customer: method.customer }} />
          </Section>
        </>
      )}
    </Detail>
  );
}
