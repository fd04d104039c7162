import type {
  PaymentMethodChangeInput,
  PortalSessionInput,
  SubscriptionAuthorizeInput,
  SubscriptionInput,
  SubscriptionItemInput,
  SubscriptionUpdateInput,
} from '@florin/contract/schemas';
import type { Example, Examples } from './example.ts';
import { FRESH, IDS } from './ids.ts';

const gold = (quantity: number) =>
  ({
    price_data: {
      currency: 'USD',
      product: 'Gold',
      unit_amount: 1999,
      recurring: { interval: 'month' },
    },
    quantity,
  }) as const satisfies SubscriptionItemInput;
const subscription = {
  customer: FRESH.customer,
  customer_email: 'ada@shop.example',
  currency: 'USD',
  items: [gold(1)],
  success_url: 'https://shop.example/account',
} satisfies SubscriptionInput;
const change = { items: [gold(2)], proration: 'now' } satisfies SubscriptionUpdateInput;

const BEGIN = { call: 'createSubscription' };
const AUTHORIZE = { call: 'authorizeSandboxSubscription' };
const ACTIVE = [BEGIN, AUTHORIZE];
/** The first charge finds an empty wallet, which the payer fills afterwards; the service would charge it if it noticed. */
const UNPAID = [
  BEGIN,
  {
    ...AUTHORIZE,
    body: { currency: 'USDT', network: 'erc20', balance: 0 } satisfies SubscriptionAuthorizeInput,
  },
  {
    call: 'changeSandboxWallet',
    body: { balance: 500_000_000, unnoticed: true } satisfies PaymentMethodChangeInput,
  },
];

const onActive = (sdk: string, body?: object): Example => ({
  sdk,
  given: ACTIVE,
  ...(body === undefined ? {} : { body }),
});

export const SUBSCRIPTION_EXAMPLES: Examples = {
  createSubscription: {
    sdk: 'subscriptions.create',
    body: subscription,
    makes: { [IDS.subscription]: 'id', [IDS.invoice]: 'latest_invoice' },
  },
  listSubscriptions: onActive('subscriptions.list'),
  retrieveSubscription: onActive('subscriptions.retrieve'),
  cancelSubscription: onActive('subscriptions.cancel', { cancel_at_period_end: true }),
  updateSubscription: onActive('subscriptions.update', change),
  previewSubscriptionUpdate: onActive('subscriptions.previewUpdate', change),
  payInvoice: { sdk: 'invoices.pay', given: UNPAID },
  listInvoices: onActive('invoices.list'),
  retrieveInvoice: onActive('invoices.retrieve'),
  createPortalSession: {
    sdk: 'portal.sessions.create',
    body: {
      customer: FRESH.customer,
      return_url: 'https://shop.example/account',
    } satisfies PortalSessionInput,
    given: [BEGIN],
  },
  listPaymentMethods: onActive('paymentMethods.list'),
  retrievePaymentMethod: onActive('paymentMethods.retrieve'),
  updatePaymentMethod: onActive('paymentMethods.update', { metadata: { label: 'Main wallet' } }),
  revokePaymentMethod: onActive('paymentMethods.revoke'),
};
