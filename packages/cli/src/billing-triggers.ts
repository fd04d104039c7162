import type { EventType, Florin, Subscription, SubscriptionInput } from '@florin/sdk';
import type { Recipe, Triggered } from './recipe.ts';

const CUSTOMER = 'florin-trigger';
const OPTION = { currency: 'USDT', network: 'trc20' } as const;
const PRICE = 1_999n;
const DAY = 86_400;
/** How long to wait for a first payment. */
const FIRST_PAYMENT_SECONDS = 23 * 3_600;
/** Pays the first invoice, and not the next one. */
const ENOUGH_FOR_ONE = '25.00';
/** Long enough for a charge to be due. */
const A_MOMENT = 60;

const priceData = {
  currency: 'USD',
  product: 'florin trigger',
  unit_amount: PRICE,
  recurring: { interval: 'day' as const },
};

const subscribe = ({ subscriptions }: Florin, more: Partial<SubscriptionInput> = {}): Promise<Subscription> =>
  subscriptions.create({ customer: CUSTOMER, currency: 'USD', items: [{ price_data: priceData }], ...more });

/** Creates a subscription with a mandate; a due invoice is paid if the wallet can. */
async function authorized(
  florin: Florin,
  { balance, ...more }: Partial<SubscriptionInput> & { balance?: string } = {},
): Promise<Subscription> {
  const { id } = await subscribe(florin, more);
  const wallet = balance === undefined ? {} : { balance };
  return await florin.testHelpers.subscriptions.authorize(id, { ...OPTION, ...wallet });
}

/** A subscription whose wallet cannot pay its second day. */
async function pastDue(florin: Florin): Promise<Subscription> {
  const { id } = await authorized(florin, { balance: ENOUGH_FOR_ONE });
  await florin.testHelpers.advanceClock(DAY + A_MOMENT);
  return await florin.subscriptions.retrieve(id);
}

const triggered = ({ id, status }: Subscription, how: string): Triggered => ({
  resource: id,
  said: `${how}: ${id} is ${status}.`,
});
const toldOfInvoice = ({ id, latest_invoice: invoice = '' }: Subscription, how: string): Triggered => ({
  resource: invoice,
  said: `${how}: ${invoice} of ${id}.`,
});

/** For each event type of subscriptions and invoices, a real change in the sandbox that causes it. */
export const BILLING_RECIPES: Partial<Record<EventType, Recipe>> = {
  'subscription.created': async (florin) => triggered(await subscribe(florin), 'Created'),
  'subscription.trialing': async (florin) =>
    triggered(await authorized(florin, { trial_period_days: 7 }), 'Created with a trial, mandate given'),
  'subscription.active': async (florin) => triggered(await authorized(florin), 'Created and paid'),
  'subscription.past_due': async (florin) =>
    triggered(await pastDue(florin), "Moved the sandbox's clock to a charge that failed"),
  'subscription.canceled': async (florin) => {
    const { id } = await subscribe(florin);
    return triggered(await florin.subscriptions.cancel(id), 'Created and canceled');
  },
  'subscription.updated': async (florin) => {
    const { id } = await subscribe(florin);
    const metadata = { changed_by: 'florin trigger' };
    return triggered(await florin.subscriptions.update(id, { metadata }), 'Created and changed');
  },
  'subscription.incomplete_expired': async (florin) => {
    const { id } = await subscribe(florin);
    await florin.testHelpers.advanceClock(FIRST_PAYMENT_SECONDS + A_MOMENT);
    return triggered(
      await florin.subscriptions.retrieve(id),
      "Moved the sandbox's clock 23 h ahead: nobody paid",
    );
  },
  'invoice.created': async (florin) => toldOfInvoice(await subscribe(florin), 'Opened an invoice'),
  'invoice.paid': async (florin) => toldOfInvoice(await authorized(florin), 'Charged an invoice'),
  'invoice.payment_failed': async (florin) =>
    toldOfInvoice(await authorized(florin, { balance: '1.00' }), 'Charged a wallet that holds too little'),
  'payment_method.updated': async (florin) => {
    const { payment_method_id: resource = '' } = await pastDue(florin);
    return { resource, said: `The wallet of ${resource} holds too little for what is due.` };
  },
};
