import type {
  Delivery,
  Event,
  LedgerEntry,
  Payment,
  PaymentTransaction,
  Refund,
} from '@florin/contract/schemas';
import { Code, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { call, pathWith } from '../api.ts';
import { OnChain } from '../explorer.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { Amount, NETWORK_NAMES, numbered, Status, Time } from '../format.tsx';
import { useMay, usePlace } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Trouble } from '../trouble.tsx';

/** The most events whose deliveries are shown: each takes a request. */
const EVENTS_MAX = 20;
const REFRESH_MS = 10_000;

interface Data<T> {
  data: T[];
}
interface Slice<T> extends Data<T> {
  has_more: boolean;
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
      {numbered(transaction.required_confirmations, 'confirmation')}{' '}
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

const delivered = ({ id, endpoint_id: endpoint, status, attempts, created }: Delivery): Moment => ({
  key: id,
  at: attempts.at(-1)?.at ?? created,
  what: (
    <>
      Delivery <ResourceLink folder="deliveries" id={id} /> to{' '}
      <ResourceLink folder="webhooks" id={endpoint} />: <Status name={status} /> after{' '}
      {numbered(attempts.length, 'attempt')}
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

const booked = ({ id, amount, currency, debit, credit, created }: LedgerEntry): Moment => ({
  key: id,
  at: created,
  what: (
    <>
      Booked <Amount units={amount} currency={currency} />: debit <Code>{debit}</Code>, credit{' '}
      <Code>{credit}</Code>
    </>
  ),
});

/** Each endpoint has answered, or there will be no further attempt. */
const areDone = (deliveries: readonly Delivery[]) =>
  deliveries.length > 0 && deliveries.every(({ next_attempt_at: next }) => next === null);

/** Deliveries of events to webhook endpoints: the API lists those of one event. */
function useDeliveries(events: readonly Event[]) {
  const place = usePlace();
  return useQueries({
    queries: events.map(({ id }) => ({
      queryKey: ['deliveries', place, id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call<Data<Delivery>>(pathWith('/api/v1/deliveries', { event_id: id, limit: 100 }), { place, signal }),
      refetchInterval: ({ state: { data } }: { state: { data: Data<Delivery> | undefined } }) =>
        data !== undefined && areDone(data.data) ? false : REFRESH_MS,
    })),
    combine: (all) => ({
      rows: all.flatMap(({ data }) => data?.data ?? []),
      error: all.find(({ error }) => error !== null)?.error ?? null,
    }),
  });
}

function useParts(payment: Payment) {
  const place = usePlace();
  const mayRead = useMay('see_requests');
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
  const entries = useQuery({
    queryKey: ['list', place, 'ledger of', payment.id],
    queryFn: ({ signal }) =>
      call<Slice<LedgerEntry>>(pathWith('/api/v1/ledger_entries', { cause: payment.id, limit: 100 }), {
        place,
        signal,
      }),
  });
  // Newest first, as the API lists them.
  const deliveries = useDeliveries((events.data?.data ?? []).slice(0, EVENTS_MAX));
  return { refunds, events, entries, deliveries };
}

/** Everything that happened to a payment, the oldest first. */
export function Timeline({ payment }: { payment: Payment }) {
  const { refunds, events, entries, deliveries } = useParts(payment);
  const moments: Moment[] = [
    { key: 'created', at: payment.created, what: 'The payment was made' },
    ...payment.transactions.map(transferred),
    ...(entries.data?.data ?? []).toReversed().map(booked),
    ...(refunds.data?.data ?? []).map(refunded),
    ...(events.data?.data ?? []).toReversed().map(published),
    ...deliveries.rows.map(delivered),
  ];
  const errors = [events.error, refunds.error, entries.error, deliveries.error].flatMap(
    (error) => error ?? [],
  );
  const eventCount = events.data?.data.length ?? 0;
  return (
    <>
      {errors.map((error) => (
        <Trouble key={error.message} error={error} />
      ))}
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
      {eventCount > EVENTS_MAX && (
        <Text size="sm">Deliveries of the newest {EVENTS_MAX} events are shown; each event has its own.</Text>
      )}
      {entries.data?.has_more === true && (
        <Text size="sm">
          The newest 100 entries of the ledger are shown. All are in the{' '}
          <FilteredLink folder="ledger" filters={{ cause: payment.id }} />.
        </Text>
      )}
    </>
  );
}
