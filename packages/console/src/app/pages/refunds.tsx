import type { Refund } from '@florin/contract/schemas';
import { LISTS } from '../ahead.ts';
import { Action, Detail, Facts } from '../detail.tsx';
import { OnChain } from '../explorer.tsx';
import { Amount, amountText, CopyId, Maybe, NETWORK_NAMES, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition, MADE } from '../list.tsx';
import { useMay } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Decide, Signed } from './decide.tsx';
import { ClaimAsPayer } from './sandbox/payer.tsx';

const PATH = LISTS.refunds;

const REFUNDS: ListDefinition<Refund> = {
  title: 'Refunds',
  path: PATH,
  folder: 'refunds',
  idOf: ({ refund_id }) => refund_id,
  columns: [
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount units={amount} currency={currency} />,
    },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Waits for', cell: ({ waiting_for }) => <Maybe>{waiting_for && wordsOf(waiting_for)}</Maybe> },
    { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] },
    { title: 'Reason', cell: ({ reason }) => <Maybe>{reason}</Maybe> },
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Id', cell: ({ refund_id }) => <CopyId id={refund_id} isShort /> },
  ],
  filters: [
    { name: 'payment_id', label: 'Payment' },
    { name: 'address', label: 'Address' },
    { name: 'tx_id', label: 'Transaction' },
    {
      name: 'status',
      label: 'Status',
      options: ['pending', 'processing', 'succeeded', 'failed', 'canceled'],
    },
    ...MADE,
  ],
  empty: {
    text: 'No refunds yet. A payment that received money can be refunded on its page, or so:',
    command: 'npx florin refunds create pay_…',
  },
};

export const RefundsPage = () => <List definition={REFUNDS} />;

const factsOf = (refund: Refund) =>
  [
    ['Status', <Status key="status" name={refund.status} />],
    ['Waits for', refund.waiting_for && wordsOf(refund.waiting_for)],
    ['Failed because of', refund.failure_reason && wordsOf(refund.failure_reason)],
    ['Payment', <ResourceLink key="payment" folder="payments" id={refund.payment_id} />],
    ['Network', NETWORK_NAMES[refund.network]],
    [
      'Address',
      refund.address && <OnChain key="address" network={refund.network} kind="address" id={refund.address} />,
    ],
    ['Claim link, for the payer', refund.claim_url && <CopyId id={refund.claim_url} />],
    [
      'Transaction',
      refund.tx_id && <OnChain key="tx" network={refund.network} kind="transaction" id={refund.tx_id} />,
    ],
    ['Reason', refund.reason],
    ['Created', <Time key="created" at={refund.created} />],
    ['Completed', <Time key="completed" at={refund.completed_at} />],
  ] as const;

/** Waits for approval, or is approved and not paid: the signer may still wait for signatures. */
const DECIDABLE = new Set(['pending', 'processing']);

/** Where approvers may have something to decide or to sign. */
const decidableOf = ({ refund_id: id, address, status }: Refund) =>
  address !== null && DECIDABLE.has(status) ? { resource: `/refunds/${encodeURIComponent(id)}` } : undefined;

export function RefundPage() {
  const mayCancel = useMay('refund');
  const mayApprove = useMay('approve');
  return (
    <Detail<Refund>
      list={{ title: 'Refunds', folder: 'refunds' }}
      path={(id) => `${PATH}/${encodeURIComponent(id)}`}
      title={({ amount, currency }) => amountText(amount, currency)}
      actions={(refund) => {
        const { status, refund_id: id, address } = refund;
        const decidable = decidableOf(refund);
        return (
          <>
            {decidable && <Decide {...decidable} sum={amountText(refund.amount, refund.currency)} />}
            {address === null && status === 'pending' && <ClaimAsPayer refund={id} />}
            {mayCancel && status === 'pending' && (
              <Action
                label="Cancel"
                question="Cancel this refund? Its money goes back to where the money of the payment is."
                path={`${PATH}/${encodeURIComponent(id)}/cancel`}
                isDangerous
              />
            )}
          </>
        );
      }}
    >
      {(refund) => {
        const decidable = decidableOf(refund);
        return (
          <>
            <Facts facts={factsOf(refund)} />
            {mayApprove && decidable && <Signed {...decidable} />}
          </>
        );
      }}
    </Detail>
  );
}
