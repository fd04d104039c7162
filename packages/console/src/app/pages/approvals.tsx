import type { PayoutBatch, Refund } from '@florin/contract/schemas';
import { Skeleton, Stack, Text, Title } from '@mantine/core';
import { Section } from '../detail.tsx';
import { Amount, AmountText, CopyId, Maybe, NETWORK_NAMES, Time } from '../format.tsx';
import { type Column, Rows } from '../list.tsx';
import { usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';
import { useWaiting } from './waiting.ts';

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

/** What waits for somebody who has neither created, edited nor submitted it. */
export function ApprovalsPage() {
  const place = usePlace();
  const query = useWaiting();
  const { payout_batches: batches = [], refunds = [] } = query.data ?? {};
  return (
    <Stack>
      <Title order={1} size="h2">
        Approvals
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess && batches.length + refunds.length === 0 && (
        <Text>
          Nothing waits for approval. Payouts and refunds above the limits of this merchant appear here; open
          one to decide on it.
        </Text>
      )}
      {query.data?.has_more === true && <Text size="sm">The 100 that have waited longest are shown.</Text>}
      {batches.length > 0 && (
        <Section title="Payouts">
          <Rows definition={BATCHES} rows={batches} place={place} />
        </Section>
      )}
      {refunds.length > 0 && (
        <Section title="Refunds">
          <Rows definition={REFUNDS} rows={refunds} place={place} />
        </Section>
      )}
    </Stack>
  );
}
