import type { Event, Payment, PaymentTransaction, Refund } from '@florin/contract/schemas';
import { Button, Code, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call, pathWith } from '../api.ts';
import { Action, Detail, Facts, Section, useChange } from '../detail.tsx';
import { OnChain } from '../explorer.tsx';
import { textOf } from '../form.ts';
import { Amount, amountText, NETWORK_NAMES, Status, Time, wordsOf } from '../format.tsx';
import { useMay, usePlace } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Trouble } from '../trouble.tsx';
import { PayAsPayer } from './sandbox/payer.tsx';

interface Data<T> {
  data: T[];
}

/** When something happened to a payment, and what. */
interface Moment {
  key: string;
  at: number;
  what: React.ReactNode;
}

const transferred = (transaction: PaymentTransaction): Moment => ({
  key: `${transaction.tx_id}:${transaction.index}`,
  at: transaction.seen_at,
  what: (
    <>
      <Amount units={transaction.amount} currency={transaction.currency ?? 'USDT'} /> arrived on{' '}
      {NETWORK_NAMES[transaction.network]}: <Status name={transaction.status} />{' '}
      {transaction.kind !== 'counted' && <Status name={transaction.kind} />} {transaction.confirmations} of{' '}
      {transaction.required_confirmations} confirmations{' '}
      <OnChain network={transaction.network} kind="transaction" id={transaction.tx_id} isShort />
    </>
  ),
});

const published = ({ id, type, created }: Event): Moment => ({
  key: id,
  at: created,
  what: (
    <>
      Event <Code>{type}</Code> <ResourceLink folder="events" id={id} />
    </>
  ),
});

const refunded = (refund: Refund): Moment => ({
  key: refund.refund_id,
  at: refund.created,
  what: (
    <>
      Refund of <Amount units={refund.amount} currency={refund.currency} />: <Status name={refund.status} />{' '}
      <ResourceLink folder="refunds" id={refund.refund_id} />
    </>
  ),
});

function Timeline({ payment, mayRead }: { payment: Payment; mayRead: boolean }) {
  const place = usePlace();
  const refunds = useQuery({
    queryKey: ['refunds', place, payment.id, payment.amount_refunded],
    queryFn: ({ signal }) =>
      call<Data<Refund>>(pathWith('/api/v1/refunds', { payment_id: payment.id, limit: 50 }), {
        place,
        signal,
      }),
  });
  const events = useQuery({
    queryKey: ['events', place, payment.id, payment.status],
    queryFn: ({ signal }) =>
      call<Data<Event>>(pathWith('/api/v1/events', { resource: payment.id, limit: 50 }), { place, signal }),
    enabled: mayRead,
  });
  const moments: Moment[] = [
    { key: 'created', at: payment.created, what: 'The payment was made' },
    ...payment.transactions.map(transferred),
    ...(refunds.data?.data ?? []).map(refunded),
    ...(events.data?.data ?? []).map(published),
  ];
  return (
    <>
      {[events.error, refunds.error].map(
        (error) => error !== null && <Trouble key={error.message} error={error} />,
      )}
      <ol className="timeline">
        {moments
          .toSorted((a, b) => a.at - b.at)
          .map(({ key, at, what }) => (
            <li key={key}>
              <Text size="xs" c="var(--plain)">
                <Time at={at} />
              </Text>
              <div>{what}</div>
            </li>
          ))}
      </ol>
    </>
  );
}

/** A refund's id is the caller's own: the same form sent twice is one refund. */
const newRefundId = () => `re_${crypto.randomUUID().replaceAll('-', '').slice(0, 26)}`;

function RefundForm({ payment }: { payment: Payment }) {
  const place = usePlace();
  const navigate = useNavigate();
  const [refundId] = useState(newRefundId);
  const { mutate, isPending, error } = useChange<{ address: string; reason: string }>(
    ({ address, reason }) => ({
      path: '/api/v1/refunds/create',
      body: {
        refund_id: refundId,
        payment_id: payment.id,
        ...(address === '' ? {} : { address }),
        ...(reason === '' ? {} : { reason }),
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [address, reason] = [textOf(fields, 'address').trim(), textOf(fields, 'reason').trim()];
    const show = () => void navigate({ to: `/${place.merchant}/${place.store}/refunds/${refundId}` });
    mutate({ address, reason }, { onSuccess: show });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          Everything that is left of this payment goes back. Without an address it goes to the wallet that was
          proved to have sent it, or where the payer says behind a link.
        </Text>
        <TextInput name="address" label="Address (optional)" autoComplete="off" />
        <TextInput name="reason" label="Reason (optional)" />
        {error !== null && <Trouble error={error} />}
        <Button type="submit" loading={isPending}>
          Refund
        </Button>
      </Stack>
    </form>
  );
}

function Actions({ payment }: { payment: Payment }) {
  const [isRefunding, setRefunding] = useState(false);
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
      {mayRefund && payment.amount_received > 0 && (
        <Button variant="default" onClick={() => setRefunding(true)}>
          Refund…
        </Button>
      )}
      <Modal opened={isRefunding} onClose={() => setRefunding(false)} title="Refund" lockScroll={false}>
        <RefundForm payment={payment} />
      </Modal>
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
    ['Customer', payment.customer],
    ['Created', <Time key="created" at={payment.created} />],
    ['Completed', <Time key="completed" at={payment.completed_at} />],
    ['Expires', <Time key="expires" at={payment.expires_at} />],
  ] as const;

export function PaymentPage() {
  const mayReadEvents = useMay('see_requests');
  return (
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
            <Timeline payment={payment} mayRead={mayReadEvents} />
          </Section>
          {Object.keys(payment.metadata).length > 0 && (
            <Section title="Metadata">
              <Facts
                facts={Object.entries(payment.metadata).map(
                  ([name, value]) => [name, String(value)] as const,
                )}
              />
            </Section>
          )}
        </>
      )}
    </Detail>
  );
}
