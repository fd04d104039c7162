import type { Subscription } from '@florin/contract/schemas';
import { Text } from '@mantine/core';
import { LISTS } from '../ahead.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { amountText, CopyId, Maybe, Status, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { FirstSubscription } from './sandbox/first-rows.tsx';
import { AuthorizeAsPayer } from './sandbox/payer.tsx';

const PATH = LISTS.subscriptions;

type Item = Subscription['items'][number];

/** The price of an item as the API has it: for one, and how many. */
const itemText = ({ quantity, price_data: { product, unit_amount, currency, recurring } }: Item): string =>
  `${product}: ${quantity === 1 ? '' : `${quantity} × `}${amountText(unit_amount, currency)} a ${recurring.interval}`;

const SUBSCRIPTIONS: ListDefinition<Subscription> = {
  title: 'Subscriptions',
  path: PATH,
  folder: 'subscriptions',
  hasOnePage: true,
  idOf: ({ id }) => id,
  columns: [
    { title: 'Customer', cell: ({ customer }) => customer },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Items', cell: ({ items }) => items.map(itemText).join(', ') },
    { title: 'Period ends', cell: ({ current_period_end }) => <Time at={current_period_end} /> },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'customer', label: 'Customer' },
    {
      name: 'status',
      label: 'Status',
      options: ['incomplete', 'trialing', 'active', 'past_due', 'canceled', 'incomplete_expired'],
    },
  ],
  empty: {
    text: 'No subscriptions yet. The guide shows the request that makes one; its options are listed by',
    command: 'npx florin subscriptions create --help',
    sandbox: <FirstSubscription />,
  },
};

export const SubscriptionsPage = () => <List definition={SUBSCRIPTIONS} />;

const ENDED = new Set(['canceled', 'incomplete_expired']);

const factsOf = (subscription: Subscription) =>
  [
    ['Status', <Status key="status" name={subscription.status} />],
    ['Customer', subscription.customer],
    ['Description', subscription.description],
    ['Period begins', <Time key="begins" at={subscription.current_period_start} />],
    ['Period ends', <Time key="ends" at={subscription.current_period_end} />],
    ['Ends at', <Time key="cancel" at={subscription.cancel_at} />],
    ['Canceled', <Time key="canceled" at={subscription.canceled_at} />],
    [
      'Payment method',
      subscription.payment_method_id && (
        <ResourceLink folder="payment-methods" id={subscription.payment_method_id} />
      ),
    ],
    ['Created', <Time key="created" at={subscription.created} />],
  ] as const;

export function SubscriptionPage() {
  const mayCancel = useMay('edit_subscriptions');
  return (
    <Detail<Subscription>
      list={{ title: 'Subscriptions', folder: 'subscriptions' }}
      path={(id) => `${PATH}/${encodeURIComponent(id)}`}
      title={({ customer }) => <Maybe>{customer}</Maybe>}
      actions={({ id, status }) =>
        !ENDED.has(status) && (
          <>
            <AuthorizeAsPayer subscription={id} />
            {mayCancel && (
              <Action
                label="Cancel"
                question="Cancel this subscription? Nothing more is charged."
                path={`${PATH}/${id}/cancel`}
                isDangerous
              />
            )}
          </>
        )
      }
    >
      {(subscription) => (
        <>
          <Facts facts={factsOf(subscription)} />
          <Section title="Items">
            {subscription.items.map((item) => (
              <Text key={item.id}>{itemText(item)}</Text>
            ))}
          </Section>
          <Section title="Billed">
            <FilteredLink folder="invoices" filters={{ subscription: subscription.id }} />
          </Section>
        </>
      )}
    </Detail>
  );
}
