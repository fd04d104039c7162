import type { Payment } from '@florin/contract/schemas';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { OnChain } from '../explorer.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { amountText, NETWORK_NAMES, Status, Time, wordsOf } from '../format.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { PayerPage } from './payer-page.tsx';
import { Timeline } from './payment-timeline.tsx';
import { RefundForm } from './refund-form.tsx';
import { PayAsPayer } from './sandbox/payer.tsx';

function Actions({ payment }: { payment: Payment }) {
  const [mayAccept, mayRefund] = [useMay('accept_payments'), useMay('refund')];
  const hasException = payment.exceptions.some((one) => one === 'underpaid' || one === 'late');
  return (
    <>
      {payment.checkout_session !== null && <PayAsPayer session={payment.checkout_session} />}
      {mayAccept && hasException && payment.status !== 'completed' && (
        <Action
          label="Accept"
          question="Take what arrived as the whole payment?"
          path={`/api/v1/payment/${payment.id}/accept`}
        />
      )}
      {mayRefund && <RefundForm payment={payment} />}
    </>
  );
}

const factsOf = (payment: Payment) =>
  [
    ['Status', <Status key="status" name={payment.status} />],
    ['Exceptions', payment.exceptions.map(wordsOf).join(', ')],
    ['Network', payment.network && NETWORK_NAMES[payment.network]],
    [
      'To pay',
      payment.pay_amount !== null &&
        payment.pay_currency &&
        amountText(payment.pay_amount, payment.pay_currency),
    ],
    ['Received', payment.pay_currency && amountText(payment.amount_received, payment.pay_currency)],
    ['Refunded', payment.pay_currency && amountText(payment.amount_refunded, payment.pay_currency)],
    ['Exchange rate', payment.exchange_rate],
    [
      'Address',
      payment.address && (
        <OnChain key="address" network={payment.network} kind="address" id={payment.address} />
      ),
    ],
    ['Order', payment.order_id],
    [
      'Customer',
      payment.customer && (
        <FilteredLink folder="customers" filters={{ external_customer_id: payment.customer }}>
          {payment.customer}
        </FilteredLink>
      ),
    ],
    ['Invoice', payment.invoice && <ResourceLink key="invoice" folder="invoices" id={payment.invoice} />],
    [
      "Payer's page",
      payment.checkout_session && <PayerPage key="payer" session={payment.checkout_session} />,
    ],
    ['Created', <Time key="created" at={payment.created} />],
    ['Completed', <Time key="completed" at={payment.completed_at} />],
    ['Expires', <Time key="expires" at={payment.expires_at} />],
  ] as const;

export const PaymentPage = () => (
  <Detail<Payment>
    list={{ title: 'Payments', folder: 'payments' }}
    path={(id) => `/api/v1/payment/${encodeURIComponent(id)}`}
    title={({ amount, currency }) => amountText(amount, currency)}
    actions={(payment) => <Actions payment={payment} />}
  >
    {(payment) => (
      <>
        <Facts facts={factsOf(payment)} />
        <Section title="What happened">
          <Timeline payment={payment} />
        </Section>
        {Object.keys(payment.metadata).length > 0 && (
          <Section title="Metadata">
            <Facts
              facts={Object.entries(payment.metadata).map(([name, value]) => [name, String(value)] as const)}
            />
          </Section>
        )}
      </>
    )}
  </Detail>
);
