import type { Customer, PaymentMethod } from '@florin/contract/schemas';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { Amount, CopyId, NETWORK_NAMES, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { useMay, usePlace } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Trouble } from '../trouble.tsx';
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

const factsOf = ({
  status,
  customer,
  currency,
  chain_type: chain,
  mandate_id: mandate,
  created,
}: PaymentMethod) =>
  [
    ['Status', <Status key="status" name={status} />],
    ['Customer', <ResourceLink key="customer" folder="customers" id={customer} />],
    ['Token', currency],
    ['Network', NETWORKS[chain]],
    ['Mandate', <CopyId key="mandate" id={mandate} />],
    ['Given', <Time key="created" at={created} />],
  ] as const;

interface Wallet {
  balance: number;
  allowance: number;
  cap: number;
  due: number | null;
  problem: string | null;
  read_at: number;
}

/** Whether the next charge can be paid, by the code of why it would fail. */
const PROBLEMS: Readonly<Record<string, string | undefined>> = {
  insufficient_balance: 'No: the wallet holds less.',
  insufficient_allowance: 'No: the wallet allows less, or its mandate is over.',
  mandate_revoked: 'No: it is charged no more.',
  network_unavailable: 'The network cannot be read now.',
  above_cap: 'No: it is more than the mandate allows in a period.',
};

/** What falls due next, against what the wallet holds. */
function WalletOf({ method: { id, currency } }: { method: PaymentMethod }) {
  const place = usePlace();
  const path = `/console/api/merchants/${place.merchant}/stores/${place.store}/payment-methods/${encodeURIComponent(id)}/wallet`;
  const wallet = useQuery({
    queryKey: ['one', place, path],
    queryFn: ({ signal }) => call<Wallet>(path, { signal }),
  });
  if (wallet.error !== null) return <Trouble error={wallet.error} retry={() => void wallet.refetch()} />;
  if (wallet.data === undefined) return null;
  const { balance, allowance, cap, due, problem, read_at: readAt } = wallet.data;
  const amount = (units: number) => <Amount units={units} currency={currency} />;
  return (
    <Facts
      facts={[
        ['Falls due next', due === null ? 'nothing' : amount(due)],
        ['Can be paid', problem === null ? 'Yes' : (PROBLEMS[problem] ?? wordsOf(problem))],
        ['The wallet holds', amount(balance)],
        ['It allows us', allowance === Number.MAX_SAFE_INTEGER ? 'any sum' : amount(allowance)],
        ['At most each period', amount(cap)],
        ['Read', <Time key="read" at={readAt} />],
      ]}
    />
  );
}

/** Subscriptions name their customer by the merchant's own id. */
function SubscriptionsOf({ customer: id }: { customer: string }) {
  const place = usePlace();
  const path = `/api/v1/customers/${encodeURIComponent(id)}`;
  const customer = useQuery({
    queryKey: ['one', place, path],
    queryFn: ({ signal }) => call<Customer>(path, { place, signal }),
  });
  if (customer.error !== null)
    return <Trouble error={customer.error} retry={() => void customer.refetch()} />;
  if (customer.data === undefined) return null;
  return <FilteredLink folder="subscriptions" filters={{ customer: customer.data.external_customer_id }} />;
}

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
          <Facts facts={factsOf(method)} />
          <Section title="Its wallet">
            <WalletOf method={method} />
          </Section>
          <Section title="Charged by it">
            <SubscriptionsOf customer={method.customer} />
          </Section>
        </>
      )}
    </Detail>
  );
}
