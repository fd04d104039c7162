import type { PayoutBatch, Refund } from '@florin/contract/schemas';
import { Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Section } from '../detail.tsx';
import { Amount, AmountText, CopyId, Maybe, NETWORK_NAMES, numbered, Time } from '../format.tsx';
import { type Column, Rows } from '../list.tsx';
import { usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';
import { type Ending, useWaiting } from './waiting.ts';

const BATCH_COLUMNS: readonly Column<PayoutBatch>[] = [
  {
    title: 'Total',
    isNumber: true,
    cell: ({ total_amount, currency }) => <AmountText text={total_amount} currency={currency} />,
  },
  { title: 'Recipients', isNumber: true, cell: ({ total_count }) => total_count },
  {
    title: 'Fees',
    isNumber: true,
    cell: ({ service_fee_amount, currency }) => `${service_fee_amount} ${currency}`,
  },
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] },
  { title: 'Description', cell: ({ description }) => <Maybe>{description}</Maybe> },
  { title: 'Submitted', cell: ({ submitted_at }) => <Time at={submitted_at} /> },
  { title: 'Id', cell: ({ batch_id }) => <CopyId id={batch_id} isShort /> },
];

const REFUND_COLUMNS: readonly Column<Refund>[] = [
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amount, currency }) => <Amount units={amount} currency={currency} />,
  },
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] },
  { title: 'Address', cell: ({ address }) => <Maybe>{address && <CopyId id={address} isShort />}</Maybe> },
  { title: 'Reason', cell: ({ reason }) => <Maybe>{reason}</Maybe> },
  { title: 'Created', cell: ({ created }) => <Time at={created} /> },
  { title: 'Id', cell: ({ refund_id }) => <CopyId id={refund_id} isShort /> },
];

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Seconds that are left, in words; the last day stands out. */
function leftOf(seconds: number): { text: string; tone?: 'warn' | 'bad' } {
  if (seconds <= 0) return { text: 'ends now', tone: 'bad' };
  if (seconds < HOUR) return { text: 'less than an hour left', tone: 'bad' };
  if (seconds < DAY) return { text: `${numbered(Math.floor(seconds / HOUR), 'hour')} left`, tone: 'bad' };
  const text = `${numbered(Math.floor(seconds / DAY), 'day')} left`;
  return seconds < 3 * DAY ? { text, tone: 'warn' } : { text };
}

/** Until when it can be approved. @param now by the merchant's clock */
const approveBy = (now: number): Column<Ending> => ({
  title: 'Approve by',
  cell: ({ ends_at: at }) => {
    const { text, tone } = leftOf(at - now);
    return (
      <>
        <Time at={at} />{' '}
        <span className="status" data-tone={tone}>
          {text}
        </span>
      </>
    );
  },
});

const BATCHES = {
  title: 'Payouts',
  folder: 'payouts',
  columns: BATCH_COLUMNS,
  idOf: ({ batch_id }: PayoutBatch) => batch_id,
};
const REFUNDS = {
  title: 'Refunds',
  folder: 'refunds',
  columns: REFUND_COLUMNS,
  idOf: ({ refund_id }: Refund) => refund_id,
};

/** Puts the deadline beside the amount, where approvers look first. */
const withDeadline = <T extends Ending>(columns: readonly Column<T>[], now: number): Column<T>[] =>
  columns.toSpliced(1, 0, approveBy(now));

const ToSign = () => (
  <Text size="sm">
    These are approved, and not paid: the signature of somebody who approved counts no more, as their key or
    passkey was replaced, or its time is over. They, or another approver, sign on its page.
  </Text>
);

interface PartProps<T> {
  title: string;
  note?: ReactNode;
  definition: Parameters<typeof Rows<T>>[0]['definition'];
  rows: readonly T[];
}

/** Rows under a title; nothing where there are none. */
function Part<T>({ title, note, definition, rows }: PartProps<T>) {
  const place = usePlace();
  if (rows.length === 0) return null;
  return (
    <Section title={title}>
      {note}
      <Rows definition={definition} rows={rows} place={place} />
    </Section>
  );
}

/** What waits for somebody who has neither created, edited nor submitted it. */
export function ApprovalsPage() {
  const query = useWaiting();
  const {
    now = 0,
    payout_batches: batches = [],
    refunds = [],
    payout_batches_to_sign: lateBatches = [],
    refunds_to_sign: lateRefunds = [],
  } = query.data ?? {};
  const count = batches.length + refunds.length + lateBatches.length + lateRefunds.length;
  return (
    <Stack>
      <Title order={1} size="h2">
        Approvals
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess && count === 0 && (
        <Text>
          Nothing waits for approval. Payouts and refunds above the limits of this merchant appear here; open
          one to decide on it.
        </Text>
      )}
      {query.data?.has_more === true && <Text size="sm">The 100 that have waited longest are shown.</Text>}
      <Part
        title="Payouts"
        definition={{ ...BATCHES, columns: withDeadline<PayoutBatch & Ending>(BATCH_COLUMNS, now) }}
        rows={batches}
      />
      <Part
        title="Refunds"
        definition={{ ...REFUNDS, columns: withDeadline<Refund & Ending>(REFUND_COLUMNS, now) }}
        rows={refunds}
      />
      <Part title="Payouts to sign again" note={<ToSign />} definition={BATCHES} rows={lateBatches} />
      <Part title="Refunds to sign again" note={<ToSign />} definition={REFUNDS} rows={lateRefunds} />
    </Stack>
  );
}
