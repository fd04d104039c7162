import type { Payment } from '@florin/contract/schemas';
import { LISTS } from '../ahead.ts';
import { Amount, CopyId, Maybe, NETWORK_NAMES, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition, MADE } from '../list.tsx';
import { FirstPayment } from './sandbox/first-rows.tsx';

const PAYMENTS: ListDefinition<Payment> = {
  title: 'Payments',
  path: LISTS.payments,
  folder: 'payments',
  idOf: ({ id }) => id,
  columns: [
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount units={amount} currency={currency} />,
    },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Exceptions', cell: ({ exceptions }) => <Maybe>{exceptions.map(wordsOf).join(', ')}</Maybe> },
    { title: 'Order', cell: ({ order_id }) => <Maybe>{order_id}</Maybe> },
    { title: 'Customer', cell: ({ customer }) => <Maybe>{customer}</Maybe> },
    { title: 'Network', cell: ({ network }) => <Maybe>{network && NETWORK_NAMES[network]}</Maybe> },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'order_id', label: 'Order' },
    { name: 'customer', label: 'Customer' },
    { name: 'address', label: 'Address' },
    { name: 'tx_id', label: 'Transaction' },
    {
      name: 'status',
      label: 'Status',
      options: ['pending', 'processing', 'completed', 'failed', 'expired', 'cancelled', 'frozen'],
    },
    {
      name: 'exception',
      label: 'Exception',
      options: ['underpaid', 'overpaid', 'late', 'wrong_token', 'canceled'],
    },
    ...MADE,
  ],
  empty: {
    text: 'No payments yet. This makes the first one, in a sandbox:',
    command: 'npx florin checkout create 12.50 USD',
    sandbox: <FirstPayment />,
  },
};

export const PaymentsPage = () => <List definition={PAYMENTS} />;
