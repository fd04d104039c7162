import type { CheckoutSession, Invoice } from '@florin/contract/schemas';
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { Maybe } from '../format.tsx';
import { usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';

/** The page on which a payer pays, as they see it. */
export function PayerPage({ session: id }: { session: string }) {
  const place = usePlace();
  const path = `/api/v1/checkout/sessions/${encodeURIComponent(id)}`;
  const session = useQuery({
    queryKey: ['session', place, id],
    queryFn: ({ signal }) => call<CheckoutSession>(path, { place, signal }),
    // Its address never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (session.error !== null) return <Trouble error={session.error} retry={() => void session.refetch()} />;
  if (session.data === undefined) return null;
  return (
    <Anchor href={session.data.url} target="_blank" rel="noreferrer" inherit underline="always">
      Open the page as the payer sees it
    </Anchor>
  );
}

/** The page of an invoice that has one: it names the page's session as its payment. */
export const PageOfInvoice = ({ invoice }: { invoice: Invoice | undefined }) =>
  invoice?.payment_id?.startsWith('cs_') ? <PayerPage session={invoice.payment_id} /> : <Maybe>{null}</Maybe>;
