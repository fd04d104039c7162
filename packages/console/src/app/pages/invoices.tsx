import type { Invoice } from '@florin/contract/schemas';
import { LISTS } from '../ahead.ts';
import { Action, Detail, Facts } from '../detail.tsx';
import { Amount, amountText, CopyId, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition, MADE } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { PageOfInvoice } from './payer-page.tsx';
import { FirstSubscription } from './sandbox/first-rows.tsx';

const PATH = LISTS.invoices;

const INVOICES: ListDefinition<Invoice> = {
  title: 'Invoices',
  path: PATH,
  folder: 'invoices',
  idOf: ({ id }) => id,
  columns: [
    {
      title: 'Due',
      isNumber: true,
      cell: ({ amount_due, currency }) => <Amount units={amount_due} currency={currency} />,
    },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Payment', cell: ({ payment_status }) => <Status name={payment_status} /> },
    { title: 'Reason', cell: ({ billing_reason }) => wordsOf(billing_reason) },
    { title: 'Period ends', cell: ({ period_end }) => <Time at={period_end} /> },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'customer', label: 'Customer' },
    { name: 'subscription', label: 'Subscription' },
    { name: 'status', label: 'Status', options: ['open', 'paid', 'void'] },
    ...MADE,
  ],
  empty: {
    text: 'No invoices yet: the first one comes with the first subscription.',
    command: 'npx florin subscriptions create --help',
    sandbox: <FirstSubscription />,
  },
};

export const InvoicesPage = () => <List definition={INVOICES} />;

const factsOf = (invoice: Invoice) =>
  [
    ['Status', <Status key="status" name={invoice.status} />],
    ['Payment', <Status key="payment" name={invoice.payment_status} />],
    ['Paid', amountText(invoice.amount_paid, invoice.currency)],
    ['Remaining', amountText(invoice.amount_remaining, invoice.currency)],
    ['Reason', wordsOf(invoice.billing_reason)],
    ['Customer', <ResourceLink key="customer" folder="customers" id={invoice.customer} />],
    ['Subscription', <ResourceLink key="subscription" folder="subscriptions" id={invoice.subscription_id} />],
    ['Newest payment', invoice.payment_id && <ResourceLink folder="payments" id={invoice.payment_id} />],
    ["Payer's page", <PageOfInvoice key="page" invoice={invoice} />],
    ['Period begins', <Time key="begins" at={invoice.period_start} />],
    ['Period ends', <Time key="ends" at={invoice.period_end} />],
    ['To be paid by', <Time key="due" at={invoice.due_date} />],
    ['Paid at', <Time key="paid" at={invoice.paid_at} />],
    ['Created', <Time key="created" at={invoice.created} />],
  ] as const;

export function InvoicePage() {
  const mayCharge = useMay('edit_subscriptions');
  return (
    <Detail<Invoice>
      list={{ title: 'Invoices', folder: 'invoices' }}
      path={(id) => `${PATH}/${encodeURIComponent(id)}`}
      title={({ amount_due, currency }) => amountText(amount_due, currency)}
      actions={({ id, status, amount_due, currency }) =>
        mayCharge &&
        status === 'open' && (
          <Action
            label="Charge now"
            question={`Charge ${amountText(amount_due, currency)} to the payment method of the subscription?`}
            path={`${PATH}/${id}/pay`}
          />
        )
      }
    >
      {(invoice) => <Facts facts={factsOf(invoice)} />}
    </Detail>
  );
}
