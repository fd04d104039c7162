import { setTimeout as sleep } from 'node:timers/promises';
import type { GoodClient } from './good-client.ts';
import type { PlannedSubscription } from './seeded-plan.ts';
import type { World } from './world.ts';

const CENTS = 100;

const items = (dollars: number) => [
  {
    price_data: {
      currency: 'USD',
      product: 'Gold',
      unit_amount: dollars * CENTS,
      recurring: { interval: 'day' },
    },
  },
];

/** A daily subscription, paid as planned, whose plan changes at once, whether anything of it was paid or not. */
export async function subscribe(world: World, plan: PlannedSubscription): Promise<void> {
  await sleep(plan.atMs);
  const client = world.merchants[plan.merchant % world.merchants.length] ?? world.merchant;
  const [first = 10, ...others] = plan.dollars;
  const subscription = await client.subscribe(items(first));
  const id = String(subscription.id);
  // A payer who cannot be reached for a fault pays nothing: that is one of the plans, too.
  if (plan.pays !== 'never') await payFirst(client, id, plan);
  for (const dollars of others) {
    await client.tryTo(`/subscriptions/${id}/update`, { items: items(dollars), proration: plan.proration });
  }
  if (plan.cancels) await client.tryTo(`/subscriptions/${id}/cancel`, {});
}

async function payFirst(
  client: GoodClient,
  id: string,
  { pays, network }: PlannedSubscription,
): Promise<void> {
  if (pays === 'by mandate') {
    await client.tryTo(`/test_helpers/subscriptions/${id}/authorize`, { currency: 'USDT', network });
    return;
  }
  const invoice = await client.firstInvoice(id);
  if (invoice !== undefined) await client.pay(invoice, { currency: 'USDT', network });
}
