import { faultyRowsCsv } from '@florin/contract/payout-file';
import type { PayoutBatch } from '@florin/contract/schemas';
import { Alert, Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { saveFile } from '../csv.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { NETWORK_NAMES, numbered, Status, Time } from '../format.tsx';
import { useMay, usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';
import { Decide, Signed } from './decide.tsx';
import { allItems, PAYOUT_BATCHES, PayoutItems } from './payout-items.tsx';

/** Until a worker takes it. */
const CANCELABLE = new Set(['draft', 'needs_fix', 'pending_approval', 'pending']);

/** Waits for approval, or is approved and not paid: the signer may still wait for signatures. */
const DECIDABLE = new Set(['pending_approval', 'pending', 'processing']);

/** Where approvers may have something to decide or to sign. */
const decidableOf = ({ status, batch_id: id }: PayoutBatch) =>
  DECIDABLE.has(status) ? { resource: `/payout-batches/${id}` } : undefined;

const sumOf = ({ total_amount, currency, valid_count, service_fee_amount }: PayoutBatch) =>
  `${total_amount} ${currency} to ${numbered(valid_count, 'recipient')}, and ${service_fee_amount} of fees`;

function Actions({ batch }: { batch: PayoutBatch }) {
  if (!useMay('create_payouts')) return null;
  const sum = sumOf(batch);
  return (
    <>
      {batch.can_submit === true && (
        <Action label="Submit" question={`Pay ${sum}?`} path={`${PAYOUT_BATCHES}/${batch.batch_id}/submit`} />
      )}
      {CANCELABLE.has(batch.status) && (
        <Action
          label="Cancel"
          question="Cancel this batch?"
          path={`${PAYOUT_BATCHES}/${batch.batch_id}/cancel`}
          isDangerous
        />
      )}
    </>
  );
}

/** The rows that were not paid as a file that can be paid again, each with its reason. */
function FailedRows({ batch }: { batch: PayoutBatch }) {
  const place = usePlace();
  const save = useMutation({
    mutationFn: async () => {
      const failed = await allItems(batch, place, 'failed');
      const rows = failed.map(({ address, amount, network, real_name, memo, failure_message }) => ({
        cells: {
          address,
          amount,
          network,
          currency: batch.currency,
          ...(real_name !== null && { real_name }),
          ...(memo !== null && { memo }),
        },
        error: failure_message ?? '',
      }));
      saveFile(`${batch.batch_id}-failed.csv`, new Blob([faultyRowsCsv(rows)], { type: 'text/csv' }));
    },
  });
  return (
    <>
      {save.error !== null && <Trouble error={save.error} />}
      <Group>
        <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          Download the failed rows
        </Button>
      </Group>
    </>
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
    path={(id) => `${PAYOUT_BATCHES}/${encodeURIComponent(id)}`}
    title={({ total_amount, currency }) => `${total_amount} ${currency}`}
    actions={(batch) => {
      const decidable = decidableOf(batch);
      return (
        <>
          {decidable && <Decide {...decidable} sum={sumOf(batch)} />}
          <Actions batch={batch} />
        </>
      );
    }}
  >
    {(batch) => {
      const decidable = decidableOf(batch);
      return (
        <>
          {batch.status === 'pending_approval' && (
            <Alert color="orange" variant="outline" title="Waits for approval">
              Somebody else has to approve it: whoever created, edited or submitted it may not.
            </Alert>
          )}
          <Facts facts={factsOf(batch)} />
          {decidable && <Signed {...decidable} />}
          <Section title="Items">
            {batch.failed_count > 0 && <FailedRows batch={batch} />}
            <PayoutItems batch={batch} />
          </Section>
        </>
      );
    }}
  </Detail>
);
