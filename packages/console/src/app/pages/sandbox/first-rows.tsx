import type { CheckoutSession, Subscription, TestAddresses } from '@florin/contract/schemas';
import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, change, type Place } from '../../api.ts';
import { useMay, usePlace, useSandbox } from '../../place.ts';
import { readAgain } from '../../read-again.ts';
import { Trouble } from '../../trouble.tsx';

const PAID_IN = { currency: 'USDT', network: 'erc20' } as const;

interface FirstRowProps {
  label: string;
  /** What making it takes beside the helpers of the sandbox. */
  needs: string;
  make: (place: Place) => Promise<unknown>;
}

/** Makes the first row of a list, in a sandbox. */
function FirstRow({ label, needs, make }: FirstRowProps) {
  const place = usePlace();
  const client = useQueryClient();
  const isSandbox = useSandbox();
  const may = useMay(needs);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => make(place),
    onSettled: () => readAgain(client),
  });
  if (!isSandbox || !may) return null;
  return (
    <>
      <Group>
        <Button onClick={() => mutate()} loading={isPending}>
          {label}
        </Button>
      </Group>
      {error !== null && <Trouble error={error} />}
    </>
  );
}

async function payFirst(place: Place): Promise<void> {
  const session = await change<CheckoutSession>('/api/v1/checkout/sessions/create', {
    place,
    body: { amount: 1_250, currency: 'USD', order_id: 'first-order', description: 'A first payment' },
  });
  await change(`/api/v1/test_helpers/checkout/sessions/${session.id}/pay`, { place, body: PAID_IN });
}

async function subscribeFirst(place: Place): Promise<void> {
  const price = { product: 'Plan', unit_amount: 1_000, currency: 'USD', recurring: { interval: 'month' } };
  const subscription = await change<Subscription>('/api/v1/subscriptions/create', {
    place,
    idempotencyKey: crypto.randomUUID(),
    body: {
      customer: 'first-customer',
      currency: 'USD',
      description: 'A first subscription',
      items: [{ price_data: price }],
    },
  });
  await change(`/api/v1/test_helpers/subscriptions/${subscription.id}/authorize`, { place, body: PAID_IN });
}

async function draftFirst(place: Place): Promise<void> {
  const { erc20 } = await call<TestAddresses>('/api/v1/test_helpers/addresses', { place });
  await change('/api/v1/payout-batches', {
    place,
    idempotencyKey: crypto.randomUUID(),
    body: {
      currency: 'USDT',
      description: 'A first payout',
      items: [{ network: 'erc20', address: erc20.succeed, amount: '25.00', real_name: 'Ada' }],
    },
  });
}

export const FirstPayment = () => (
  <FirstRow label="Make one, as the payer" needs="edit_checkout" make={payFirst} />
);

export const FirstCustomer = () => (
  <FirstRow
    label="Make one"
    needs="edit_checkout"
    make={(place) =>
      change('/api/v1/customers/create', {
        place,
        body: { external_customer_id: 'first-customer', name: 'Ada', email: 'ada@example.com' },
      })
    }
  />
);

export const FirstSubscription = () => (
  <FirstRow label="Subscribe, as the payer" needs="edit_subscriptions" make={subscribeFirst} />
);

export const FirstPayout = () => <FirstRow label="Make a draft" needs="create_payouts" make={draftFirst} />;
