import type { PayoutBatch, PayoutItem } from '@florin/contract/schemas';
import { Alert, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { call, pathWith } from '../api.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { CopyId, Maybe, NETWORK_NAMES, Status, Time } from '../format.tsx';
import { useMay, usePlace } from '../place.ts';
import { ShowMore } from '../show-more.tsx';
import { Trouble } from '../trouble.tsx';

const PATH = '/api/v1/payout-batches';
const PAGE = 50;

/** Until a worker takes it. */
const CANCELABLE = new Set(['draft', 'needs_fix', 'pending_approval', 'pending']);

function Actions({ batch }: { batch: PayoutBatch }) {
  if (!useMay('create_payouts')) return null;
  const sum = `${batch.total_amount} ${batch.currency} to ${batch.valid_count} recipients, and ${batch.service_fee_amount} of fees`;
  return (
    <>
      {batch.can_submit === true && (
        <Action label="Submit" question={`Pay ${sum}?`} path={`${PATH}/${batch.batch_id}/submit`} />
      )}
      {CANCELABLE.has(batch.status) && (
        <Action
          label="Cancel"
          question="Cancel this batch?"
          path={`${PATH}/${batch.batch_id}/cancel`}
          isDangerous
        />
      )}
    </>
  );
}

const ItemRow = ({ item }: { item: PayoutItem }) => (
  <Table.Tr>
    <Table.Td data-label="Row" className="number">
      {item.index + 1}
    </Table.Td>
    <Table.Td data-label="Amount" className="number">
      {item.amount}
    </Table.Td>
    <Table.Td data-label="Status">
      <Status name={item.status} />
      {[...item.validation_errors.map(({ message }) => message), item.failure_message].map(
        (text) =>
          text !== null && (
            <Text key={text} size="sm" c="var(--bad)">
              {text}
            </Text>
          ),
      )}
    </Table.Td>
    <Table.Td data-label="Recipient">
      <Maybe>{item.real_name}</Maybe>
    </Table.Td>
    <Table.Td data-label="Address">
      <CopyId id={item.address} isShort />
    </Table.Td>
    <Table.Td data-label="Transaction">
      <Maybe>{item.tx_id && <CopyId id={item.tx_id} isShort />}</Maybe>
    </Table.Td>
  </Table.Tr>
);

function Items({ batch }: { batch: PayoutBatch }) {
  const place = usePlace();
  const path = `${PATH}/${batch.batch_id}/items`;
  const items = useInfiniteQuery({
    queryKey: ['items', place, batch],
    queryFn: ({ pageParam, signal }) =>
      call<{ data: PayoutItem[]; has_more: boolean }>(
        pathWith(path, { limit: PAGE, starting_after: pageParam }),
        {
          place,
          signal,
        },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.item_id : undefined),
    placeholderData: (before) => before,
  });
  if (items.error !== null) return <Trouble error={items.error} retry={() => void items.refetch()} />;
  return (
    <Stack>
      <Table className="list" aria-label="Items">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">Row</Table.Th>
            <Table.Th className="number">Amount</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Recipient</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>Transaction</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.data?.pages
            .flatMap(({ data }) => data)
            .map((item) => (
              <ItemRow key={item.item_id} item={item} />
            ))}
        </Table.Tbody>
      </Table>
      <ShowMore pages={items} />
    </Stack>
  );
}

const factsOf = (batch: PayoutBatch) =>
  [
    ['Status', <Status key="status" name={batch.status} />],
    ['Network', NETWORK_NAMES[batch.network]],
    ['Description', batch.description],
    [
      'Items',
      `${batch.total_count}: ${batch.success_count} paid, ${batch.failed_count} failed, ${batch.invalid_count} invalid`,
    ],
    ['Total', `${batch.total_amount} ${batch.currency}`],
    ['Fees', `${batch.service_fee_amount} ${batch.currency}`],
    ['Debited in all', `${batch.debit_amount} ${batch.currency}`],
    ['Still reserved', `${batch.frozen_amount} ${batch.currency}`],
    ['Created', <Time key="created" at={batch.created_at} />],
    ['Submitted', <Time key="submitted" at={batch.submitted_at} />],
    ['Completed', <Time key="completed" at={batch.completed_at} />],
  ] as const;

export const PayoutPage = () => (
  <Detail<PayoutBatch>
    list={{ title: 'Payouts', folder: 'payouts' }}
    path={(id) => `${PATH}/${encodeURIComponent(id)}`}
    title={({ total_amount, currency }) => `${total_amount} ${currency}`}
    actions={(batch) => <Actions batch={batch} />}
  >
    {(batch) => (
      <>
        {batch.status === 'pending_approval' && (
          <Alert color="orange" variant="outline" title="Waits for approval">
            Somebody else has to approve it: whoever created, edited or submitted it may not.
          </Alert>
        )}
        <Facts facts={factsOf(batch)} />
        <Section title="Items">
          <Items batch={batch} />
        </Section>
      </>
    )}
  </Detail>
);
