import type { Subscription } from '@florin/contract/schemas';
import { NativeSelect, Text } from '@mantine/core';
import { LISTS } from '../ahead.ts';
import { pathWith } from '../api.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { textOf } from '../form.ts';
import { FormDialog } from '../form-dialog.tsx';
import { amountText, CopyId, Maybe, Status, Time } from '../format.tsx';
import { List, type ListDefinition, MADE } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { PageOfInvoice } from './payer-page.tsx';
import { PortalLink } from './portal-link.tsx';
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
    ...MADE,
  ],
  empty: {
    text: 'No subscriptions yet. The guide shows the request that makes one; its options are listed by',
    command: 'npx florin subscriptions create --help',
    sandbox: <FirstSubscription />,
  },
};

export const SubscriptionsPage = () => <List definition={SUBSCRIPTIONS} />;

/** Their present period is the last one that was paid, or the trial. */
const PAID = new Set(['trialing', 'active']);
const ENDED = new Set(['canceled', 'incomplete_expired']);

/** Cancels at once, or at the end of the period. An `incomplete` subscription has no period: it ends at once. */
function CancelForm({
  subscription: { id, status, current_period_end: end },
}: {
  subscription: Subscription;
}) {
  const hasPeriod = status !== 'incomplete';
  return (
    <FormDialog
      label="Cancel…"
      title="Cancel the subscription"
      submit="Cancel it"
      names={['cancel_at_period_end']}
      fields={(errorOf) => (
        <>
          {hasPeriod && (
            <NativeSelect
              name="when"
              label="When"
              data={[
                { value: 'period_end', label: 'At the end of the period' },
                { value: 'now', label: 'Now' },
              ]}
              error={errorOf('cancel_at_period_end')}
              data-autofocus
            />
          )}
          {PAID.has(status) && (
            <Text size="sm">
              The present period ends <Time at={end} />.
            </Text>
          )}
          <Text size="sm">
            Once it has ended, nothing more is charged. What was paid is not given back; money that is on its
            way is waited for.
          </Text>
        </>
      )}
      send={(fields) => ({
        path: `${PATH}/${encodeURIComponent(id)}/cancel`,
        body: textOf(fields, 'when') === 'period_end' ? { cancel_at_period_end: true } : {},
      })}
    />
  );
}

const factsOf = (subscription: Subscription) =>
  [
    ['Status', <Status key="status" name={subscription.status} />],
    [
      'Customer',
      subscription.customer_object && (
        <ResourceLink folder="customers" id={subscription.customer_object.id}>
          {subscription.customer}
        </ResourceLink>
      ),
    ],
    [
      'Newest invoice',
      subscription.latest_invoice && <ResourceLink folder="invoices" id={subscription.latest_invoice} />,
    ],
    ["Payer's page", <PageOfInvoice key="page" invoice={subscription.latest_invoice_object} />],
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
      path={(id) => pathWith(`${PATH}/${encodeURIComponent(id)}`, { expand: 'latest_invoice,customer' })}
      title={({ customer }) => <Maybe>{customer}</Maybe>}
      actions={(subscription) => (
        <>
          <PortalLink customer={subscription.customer} />
          {!ENDED.has(subscription.status) && (
            <>
              <AuthorizeAsPayer subscription={subscription.id} />
              {mayCancel && subscription.cancel_at !== undefined && (
                <Action
                  label="Do not cancel"
                  question="Go on with this subscription, as if it had not been canceled?"
                  path={`${PATH}/${encodeURIComponent(subscription.id)}/update`}
                  body={{ cancel_at: null }}
                />
              )}
              {mayCancel && <CancelForm subscription={subscription} />}
            </>
          )}
        </>
      )}
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
