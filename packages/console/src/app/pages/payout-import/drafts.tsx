import { type Asset, formatAmount, parseNonNegativeAmount } from '@florin/contract/money';
import type { PlannedBatch } from '@florin/contract/payout-file';
import type { PayoutBatch } from '@florin/contract/schemas';
import { Alert, Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call, change } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { NETWORK_NAMES, numbered, Status } from '../../format.tsx';
import { useMay, usePlace } from '../../place.ts';
import { Trouble } from '../../trouble.tsx';
import { PAYOUT_BATCHES, PayoutItems } from '../payout-items.tsx';
import { type Drafts, makeDrafts, ReferenceTaken } from './make-drafts.ts';

interface MakingProps {
  planned: readonly PlannedBatch[];
  reference: string;
  done: () => void;
  back: () => void;
}

/** Makes the drafts of a file, then shows them. */
export function MakeDrafts({ planned, reference, done, back }: MakingProps) {
  const place = usePlace();
  const [made, setMade] = useState(0);
  const { mutate, data, error } = useMutation({
    mutationFn: () => makeDrafts(planned, reference, { place, progress: setMade }),
    onSuccess: done,
  });
  useEffect(() => mutate(), [mutate]);
  if (data !== undefined) return <Made drafts={data} />;
  return (
    <Stack>
      {error === null && (
        <>
          <Text role="status">
            {made} of {numbered(planned.length, 'draft')} {made === 1 ? 'is' : 'are'} made. Nothing is paid by
            a draft.
          </Text>
          <progress max={planned.length} value={made} aria-label="Drafts made" />
        </>
      )}
      {error instanceof ReferenceTaken ? (
        <Alert color="orange" variant="outline" role="alert" title="This reference was used before">
          {error.message}
        </Alert>
      ) : (
        error !== null && <Trouble error={error} retry={() => mutate()} />
      )}
      {error !== null && (
        <Group>
          <Button variant="default" onClick={back}>
            Back to the rows
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const pathOf = ({ batch_id }: PayoutBatch) => `${PAYOUT_BATCHES}/${batch_id}`;

/** The batches as the service has them now; each is read again after a change. */
function useBatches(batches: readonly PayoutBatch[]) {
  const place = usePlace();
  const client = useQueryClient();
  const keyOf = (batch: PayoutBatch) => ['one', place, pathOf(batch)];
  const queries = useQueries({
    queries: batches.map((batch) => ({
      queryKey: keyOf(batch),
      queryFn: ({ signal }: { signal: AbortSignal }) => call<PayoutBatch>(pathOf(batch), { place, signal }),
      initialData: batch,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return {
    batches: queries.map(({ data }) => data),
    keep: (batch: PayoutBatch) => client.setQueryData(keyOf(batch), batch),
    readAgain: (batch: PayoutBatch) => client.invalidateQueries({ queryKey: keyOf(batch) }),
  };
}

function sumOf(batches: readonly PayoutBatch[], amountOf: (batch: PayoutBatch) => string): string {
  const sums = Map.groupBy(batches, ({ currency }) => currency);
  return [...sums]
    .map(([currency, own]: [Asset, PayoutBatch[]]) => {
      const units = own.reduce((sum, batch) => sum + parseNonNegativeAmount(amountOf(batch)), 0n);
      return `${formatAmount(units)} ${currency}`;
    })
    .join(', ');
}

const countOf = (batches: readonly PayoutBatch[], count: (batch: PayoutBatch) => number) =>
  batches.reduce((sum, batch) => sum + count(batch), 0);

function BatchTable({ batches }: { batches: readonly PayoutBatch[] }) {
  const place = usePlace();
  return (
    <Table className="list" aria-label="Batches">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Batch</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Network</Table.Th>
          <Table.Th className="number">Recipients</Table.Th>
          <Table.Th className="number">Total</Table.Th>
          <Table.Th className="number">Fees</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {batches.map((batch) => (
          <Table.Tr key={batch.batch_id}>
            <Table.Td data-label="Batch">
              <Link to={`/${place.merchant}/${place.store}/payouts/${batch.batch_id}`} target="_blank">
                {batch.batch_id}
              </Link>
            </Table.Td>
            <Table.Td data-label="Status">
              <Status name={batch.status} />
            </Table.Td>
            <Table.Td data-label="Network">{NETWORK_NAMES[batch.network]}</Table.Td>
            <Table.Td data-label="Recipients" className="number">
              {batch.total_count}
            </Table.Td>
            <Table.Td data-label="Total" className="number">
              {batch.total_amount} {batch.currency}
            </Table.Td>
            <Table.Td data-label="Fees" className="number">
              {batch.service_fee_amount} {batch.currency}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Submits one batch after another; the first that is refused ends it, and those before it stay submitted. */
function Submit({ batches, keep, readAgain }: ReturnType<typeof useBatches>) {
  const place = usePlace();
  const ready = batches.filter(({ can_submit }) => can_submit === true);
  const submit = useMutation({
    mutationFn: async () => {
      for (const batch of ready) {
        try {
          keep(await change<PayoutBatch>(`${pathOf(batch)}/submit`, { place }));
        } catch (error) {
          // The service checks every item once more, and may have found one.
          await readAgain(batch);
          throw error;
        }
      }
    },
  });
  const sum = sumOf(ready, ({ debit_amount }) => debit_amount);
  return (
    <>
      {submit.error !== null && <Trouble error={submit.error} />}
      {ready.length > 0 && (
        <Group>
          <Button loading={submit.isPending} onClick={() => submit.mutate()}>
            Submit {ready.length === 1 ? 'the batch' : numbered(ready.length, 'batch', 'batches')}: {sum} with
            fees
          </Button>
        </Group>
      )}
    </>
  );
}

function Made({ drafts }: { drafts: Drafts }) {
  const all = useBatches(drafts.batches);
  const { batches } = all;
  const { merchant, store } = usePlace();
  const may = useMay('create_payouts');
  const invalid = batches.filter(
    ({ invalid_count, can_submit }) => invalid_count > 0 && can_submit === false,
  );
  return (
    <Stack>
      {drafts.earlier > 0 && (
        <Alert color="orange" variant="outline" title="Made before">
          Of {numbered(batches.length, 'batch', 'batches')}, {drafts.earlier} had been made under this
          reference before. Such a batch is shown as it is now, and none was made a second time.
        </Alert>
      )}
      <Text role="status">
        {numbered(batches.length, 'batch', 'batches')} with{' '}
        {numbered(
          countOf(batches, ({ total_count }) => total_count),
          'recipient',
        )}
        : {sumOf(batches, ({ total_amount }) => total_amount)}, and{' '}
        {sumOf(batches, ({ service_fee_amount }) => service_fee_amount)} of fees.
      </Text>
      {invalid.map((batch) => (
        <Section key={batch.batch_id} title={`To mend in ${batch.batch_id}`}>
          <PayoutItems batch={batch} status="invalid" />
        </Section>
      ))}
      {may && <Submit {...all} />}
      <BatchTable batches={batches} />
      <Anchor component={Link} to={`/${merchant}/${store}/payouts`}>
        All payouts
      </Anchor>
    </Stack>
  );
}
