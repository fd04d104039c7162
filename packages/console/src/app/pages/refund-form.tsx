import type { Payment, Refund } from '@florin/contract/schemas';
import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.ts';
import { textOf, tokensOf } from '../form.ts';
import { type ErrorOf, FormDialog } from '../form-dialog.tsx';
import { amountText, NETWORK_NAMES } from '../format.tsx';
import { usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';

const REFRESH_MS = 5_000;

/** Money that a refund may take. */
interface Refundable {
  /** Of a transfer of a wrong token, which is refunded by itself; null: the money of the payment. */
  tx_id: string | null;
  currency: string;
  network: string;
  /** What no refund has taken. */
  amount: number;
  /** The wallet that was proved to have sent it, and the most that goes there. */
  proven: { address: string; amount: number } | null;
}

function useRefundable({ id }: Payment) {
  const { merchant, store } = usePlace();
  const path = `/console/api/merchants/${merchant}/stores/${store}/payments/${id}/refundable`;
  return useQuery({
    queryKey: ['refundable', path],
    queryFn: async ({ signal }) => (await call<{ data: Refundable[] }>(path, { signal })).data,
    refetchInterval: REFRESH_MS,
  });
}

const mostOf = ({ amount, currency }: Pick<Refundable, 'amount' | 'currency'>) =>
  `${amountText(amount, currency)} at most`;

const nameOf = (one: Refundable) =>
  one.tx_id === null
    ? `The payment: ${mostOf(one)}`
    : `${one.currency} on ${NETWORK_NAMES[one.network]}, which the payment did not take: ${mostOf(one)}`;

/** Where a refund without an address goes. */
function whereTo({ proven, amount, currency }: Refundable): string {
  if (proven === null) return 'Empty: the payer says where, behind a link.';
  const wallet = `${proven.address}, the wallet that was proved to have sent it`;
  if (proven.amount >= amount) return `Empty: ${wallet}.`;
  return `Empty: ${mostOf({ ...proven, currency })} to ${wallet}; for more the payer says where, behind a link.`;
}

/** What was chosen stays chosen, also once nothing is left of it: another source never takes its place. */
function Fields({ sources, errorOf }: { sources: Refundable[]; errorOf: ErrorOf }) {
  const [chosen, setChosen] = useState(sources[0]);
  if (chosen === undefined) return null;
  const present = sources.find(({ tx_id }) => tx_id === chosen.tx_id);
  const source = present ?? { ...chosen, amount: 0 };
  const offered = present === undefined ? [source, ...sources] : sources;
  return (
    <>
      <input type="hidden" name="currency" value={source.currency} />
      {offered.length === 1 ? (
        <input type="hidden" name="tx_id" value={source.tx_id ?? ''} />
      ) : (
        <NativeSelect
          name="tx_id"
          label="What"
          value={source.tx_id ?? ''}
          onChange={({ currentTarget: { value } }) =>
            setChosen(offered.find(({ tx_id }) => (tx_id ?? '') === value))
          }
          data={offered.map((one) => ({ value: one.tx_id ?? '', label: nameOf(one) }))}
          error={errorOf('tx_id')}
        />
      )}
      <TextInput
        name="amount"
        label={`Amount in ${source.currency} (optional)`}
        description={`Empty: all that is left, ${mostOf(source)}.`}
        inputMode="decimal"
        autoComplete="off"
        error={errorOf('amount')}
        data-autofocus
      />
      <TextInput
        name="address"
        label="Address (optional)"
        description={whereTo(source)}
        autoComplete="off"
        error={errorOf('address')}
      />
      <TextInput name="reason" label="Reason (optional)" error={errorOf('reason')} />
    </>
  );
}

/** A refund's id is the caller's own: the same form sent twice is one refund. */
const refundIdOf = (formId: string) => `re_${formId.replaceAll('-', '').slice(0, 26)}`;

/**
 * Gives back money of a payment, all or a part of it, or a transfer that it did not take. What the service finds wrong stands
 * beside its field. Nothing is offered where nothing is left.
 */
export function RefundForm({ payment }: { payment: Payment }) {
  const place = usePlace();
  const navigate = useNavigate();
  const refundable = useRefundable(payment);
  const sources = refundable.data ?? [];
  return (
    <>
      {refundable.error !== null && (
        <Trouble error={refundable.error} retry={() => void refundable.refetch()} />
      )}
      <FormDialog
        label="Refund…"
        title="Refund"
        submit="Refund"
        isOffered={sources.length > 0}
        names={['tx_id', 'amount', 'address', 'reason']}
        fields={(errorOf) => <Fields sources={sources} errorOf={errorOf} />}
        send={(fields, formId) => {
          const [txId, currency] = [textOf(fields, 'tx_id'), textOf(fields, 'currency')];
          const amount = tokensOf(fields, 'amount');
          const [address, reason] = [textOf(fields, 'address').trim(), textOf(fields, 'reason').trim()];
          return {
            path: '/api/v1/refunds/create',
            body: {
              refund_id: refundIdOf(formId),
              payment_id: payment.id,
              ...(txId === '' ? {} : { tx_id: txId }),
              ...(amount === undefined ? {} : { amount, currency }),
              ...(address === '' ? {} : { address }),
              ...(reason === '' ? {} : { reason }),
            },
          };
        }}
        done={(answer) => {
          const { refund_id: id }: Refund = Object(answer);
          void navigate({ to: `/${place.merchant}/${place.store}/refunds/${id}` });
        }}
      />
    </>
  );
}
