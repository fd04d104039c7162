import type { PayoutBatch } from '@florin/contract/schemas';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LISTS } from '../ahead.ts';
import { AmountText, CopyId, Maybe, NETWORK_NAMES, Status, Time } from '../format.tsx';
import { List, type ListDefinition, MADE } from '../list.tsx';
import { useMay, usePlace } from '../place.ts';
import { FirstPayout } from './sandbox/first-rows.tsx';

const PAYOUTS: ListDefinition<PayoutBatch> = {
  title: 'Payouts',
  path: LISTS.payouts,
  folder: 'payouts',
  idOf: ({ batch_id }) => batch_id,
  columns: [
    {
      title: 'Total',
      isNumber: true,
      cell: ({ total_amount, currency }) => <AmountText text={total_amount} currency={currency} />,
    },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Items', isNumber: true, cell: ({ total_count }) => total_count },
    { title: 'Paid', isNumber: true, cell: ({ success_count }) => success_count },
    {
      title: 'Failed',
      isNumber: true,
      cell: ({ failed_count, invalid_count }) => failed_count + invalid_count,
    },
    { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] },
    { title: 'Description', cell: ({ description }) => <Maybe>{description}</Maybe> },
    { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Id', cell: ({ batch_id }) => <CopyId id={batch_id} isShort /> },
  ],
  filters: [
    { name: 'idempotency_key', label: 'Idempotency key' },
    {
      name: 'status',
      label: 'Status',
      options: [
        'draft',
        'needs_fix',
        'pending_approval',
        'pending',
        'processing',
        'completed',
        'partially_completed',
        'failed',
        'canceled',
        'rejected',
      ],
    },
    { name: 'currency', label: 'Currency', options: ['USDT', 'USDC'] },
    ...MADE,
  ],
  empty: {
    text: 'No payouts yet. A file with a row for each recipient makes the first one, here or from the command line:',
    command: 'npx florin payouts create payouts.csv --currency USDT',
    sandbox: <FirstPayout />,
  },
};

export function PayoutsPage() {
  const { merchant, store } = usePlace();
  const may = useMay('create_payouts');
  return (
    <List
      definition={PAYOUTS}
      actions={
        may && (
          <Button size="sm" component={Link} to={`/${merchant}/${store}/payouts/import`}>
            Pay from a file
          </Button>
        )
      }
    />
  );
}
