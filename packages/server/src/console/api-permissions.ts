import type { Route } from '../platform/http/index.ts';
import type { Permission } from './roles.ts';

/** What a person needs for each call of the API. `keys`: no person may, as the call is made for servers. */
const CALLS = {
  see: [
    'retrieveBalances',
    'listLedgerEntries',
    'listPayments',
    'retrievePayment',
    'listCheckoutSessions',
    'retrieveCheckoutSession',
    'listPaymentLinks',
    'retrievePaymentLink',
    'listRefunds',
    'retrieveRefund',
    'retrieveRefundStatement',
    'listCustomers',
    'retrieveCustomer',
    'listPaymentMethods',
    'retrievePaymentMethod',
    'listSubscriptions',
    'retrieveSubscription',
    'listInvoices',
    'retrieveInvoice',
    'listPayoutBatches',
    'retrievePayoutBatch',
    'retrievePayoutBatchStatement',
    'listPayoutItems',
    'retrievePayoutItem',
    'retrieveClock',
  ],
  see_requests: [
    'listEvents',
    'retrieveEvent',
    'listWebhookEndpoints',
    'retrieveWebhookEndpoint',
    'listDeliveries',
    'retrieveDelivery',
  ],
  create_payouts: [
    'createPayoutBatch',
    'submitPayoutBatch',
    'cancelPayoutBatch',
    'updatePayoutItem',
    'deletePayoutItem',
  ],
  approve: ['approvePayoutBatch', 'approveRefund'],
  // Mails hold the links by which refunds are claimed.
  refund: ['createRefund', 'cancelRefund', 'listMails', 'retrieveMail'],
  accept_payments: ['acceptPayment'],
  edit_checkout: [
    'createCheckoutSession',
    'cancelCheckoutSession',
    'createPaymentLink',
    'updatePaymentLink',
    'createCustomer',
    'updateCustomer',
    'createPortalSession',
  ],
  edit_subscriptions: [
    'createSubscription',
    'updateSubscription',
    'previewSubscriptionUpdate',
    'cancelSubscription',
    'payInvoice',
    'updatePaymentMethod',
    'revokePaymentMethod',
  ],
  edit_keys: [
    'createWebhookEndpoint',
    'updateWebhookEndpoint',
    'testWebhookEndpoint',
    'redeliverToWebhookEndpoint',
    'redeliverDelivery',
  ],
  use_sandbox: [
    'fundSandbox',
    'retrieveTestAddresses',
    'controlSimulatedChain',
    'listSimulatedTransfers',
    'advanceClock',
    'paySandboxSession',
    'authorizeSandboxSubscription',
    'claimSandboxRefund',
    'changeSandboxWallet',
  ],
  // Of a stream the rights would have to be read again while it is open.
  keys: ['streamEvents'],
} as const satisfies Partial<Record<Permission | 'keys', readonly string[]>>;

/** Money that leaves, and where news of it is sent: whoever finds an open browser must not do it. */
const WITH_FRESH_PROOF = [
  'updatePayoutItem',
  'submitPayoutBatch',
  'approvePayoutBatch',
  'approveRefund',
  'createRefund',
  'createWebhookEndpoint',
  'updateWebhookEndpoint',
];

const PERMISSIONS = new Map<string, string>(
  Object.entries(CALLS).flatMap(([permission, calls]) => calls.map((call) => [call, permission] as const)),
);

/** The calls that the table names. */
export const namedCalls = (): string[] => [...PERMISSIONS.keys()];

/**
 * What a person needs for a route of the API; undefined: no person may call it.
 *
 * @throws Error for a route that the table does not name
 */
export function permissionOf({ operationId }: Pick<Route, 'operationId'>): Route['permission'] {
  const name = PERMISSIONS.get(operationId);
  if (name === undefined) throw new Error(`${operationId} names no permission`);
  return name === 'keys' ? undefined : { name, isProofFresh: WITH_FRESH_PROOF.includes(operationId) };
}
