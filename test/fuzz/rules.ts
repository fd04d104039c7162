import type { Ready } from './wire.ts';

/** Refusals of requests that fit the document, and the words of the design that name each. */
interface Rule {
  codes: readonly string[];
  why: string;
  applies?: (ready: Ready) => boolean;
}

const cursor: Rule = {
  codes: ['invalid_request', 'invalid_request_error'],
  why: 'starting_after: an id; unknown, foreign or of another list is 400',
  applies: ({ target }) => /[?&]starting_after=/.test(target),
};
const contradiction: Rule = {
  codes: ['invalid_request_error', 'invalid_request'],
  why: 'filters that contradict each other are 400',
  applies: ({ target }) =>
    /[?&]created(%5B|\[)lt/i.test(target) ||
    (/[?&](network|status)=/.test(target) && /[?&](address|tx_id|exception)=/.test(target)),
};
const foreignStore: Rule = {
  codes: ['forbidden'],
  why: 'the store of a list is that of the key',
  applies: ({ target }) => /[?&]store=/.test(target),
};
const amounts: Rule = {
  codes: ['batch_amount_too_low', 'batch_amount_limit_exceeded'],
  why: 'minimum and maximum are checked at creation and edit',
};
const editable: Rule = {
  codes: ['invalid_request'],
  why: 'wrong state is 400 invalid_request for cancel and edits',
};

function urlIn(body: Ready['body']): string {
  const { url } = JSON.parse(Buffer.from(body ?? '').toString()) as { url?: unknown };
  return String(url);
}

const callbackUrl: Rule = {
  codes: ['invalid_request_error'],
  why: 'saving a URL looks at its text: https, a host, no user information …',
  applies: ({ body }) => !/^https:\/\/shop\.invalid[:/]/.test(urlIn(body)),
};
const sessionRules: Rule[] = [
  {
    codes: ['invalid_request_error'],
    why: 'a currency of ISO 4217 with a rate; URLs of https; an option that the store offers; up to 2^53−1 to be paid',
  },
  { codes: ['conflict'], why: 'a key that comes again with other parameters' },
];
const paymentState: Rule = {
  codes: ['invalid_request_error'],
  why: 'wrong state, nothing to accept, nothing left to pay',
};
const refundRules: Rule[] = [
  {
    codes: ['parameter_missing', 'invalid_request_error', 'insufficient_balance'],
    why: 'amount and, with it, currency; money that is there; an address as a payout item has; balance reserved',
  },
  { codes: ['conflict'], why: 'a refund_id that comes again with other parameters' },
];
const subscriptionRules: Rule[] = [
  {
    codes: ['invalid_request_error'],
    why: 'one currency of ISO 4217 with a rate, one interval; an active method of the customer; times ahead; URLs of https',
  },
  { codes: ['conflict'], why: 'a key that comes again with other parameters' },
];
const cancelRule: Rule = {
  codes: ['invalid_request_error'],
  why: 'cancel_at_period_end and cancel_at together are 400',
  applies: ({ body }) => Object.keys(JSON.parse(Buffer.from(body ?? '').toString()) as object).length > 1,
};
const billingState: Rule = {
  codes: ['invalid_request_error'],
  why: 'a final subscription, a paid or void invoice, a live attempt, no method; items keep currency and interval',
};
const refundState: Rule = {
  codes: ['invalid_request_error'],
  why: 'only while pending; an address as a payout item has; a link that is neither used nor over',
};
const enabledOnly: Rule = {
  codes: ['invalid_request_error'],
  why: 'a disabled endpoint is sent nothing; a delivery that is pending or paused goes by itself',
};

const signedApproval: Rule = {
  codes: ['invalid_request', 'invalid_request_error'],
  why: "a registered approver's own signature over what waits for approval, valid from now to 30 days ahead",
};

/** By operation. One that is not here is never refused when it fits: a new one gets its rules from the design. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  createPayoutBatch: [amounts, { codes: ['conflict'], why: 'a key that comes again with other parameters' }],
  listPayoutBatches: [cursor, contradiction],
  submitPayoutBatch: [
    {
      codes: [
        'insufficient_balance',
        'custody_balance_insufficient',
        'quota_blocked',
        'address_risk_rejected',
        'batch_cannot_submit',
      ],
      why: 'come from submit as 400',
    },
  ],
  cancelPayoutBatch: [editable],
  approvePayoutBatch: [signedApproval],
  listPayoutItems: [cursor],
  updatePayoutItem: [editable, amounts],
  deletePayoutItem: [editable, amounts, { codes: ['batch_empty_items'], why: 'the last one' }],
  listLedgerEntries: [cursor],
  listEvents: [cursor],
  streamEvents: [
    {
      codes: ['invalid_request_error'],
      why: 'after: an event of the store',
      applies: ({ target }) => /[?&]after=/.test(target),
    },
  ],
  createWebhookEndpoint: [callbackUrl],
  listWebhookEndpoints: [cursor],
  updateWebhookEndpoint: [callbackUrl],
  testWebhookEndpoint: [enabledOnly],
  redeliverToWebhookEndpoint: [enabledOnly],
  listDeliveries: [cursor],
  redeliverDelivery: [enabledOnly],
  createPaymentLink: [...sessionRules, { codes: ['parameter_missing'], why: 'amount or open: true' }],
  listPaymentLinks: [cursor],
  listSubscriptions: [contradiction],
  listCustomers: [cursor],
  listMails: [cursor, contradiction],
  listInvoices: [cursor, contradiction],
  listPayments: [cursor, contradiction, foreignStore],
  listCheckoutSessions: [cursor, contradiction, foreignStore],
  listRefunds: [cursor, contradiction, foreignStore],
  listPaymentMethods: [cursor, contradiction],
  revokePaymentMethod: [{ codes: ['invalid_request_error'], why: 'revoked is final' }],
  cancelSubscription: [cancelRule, billingState],
  updateSubscription: [billingState],
  previewSubscriptionUpdate: [billingState],
  payInvoice: [billingState],
  authorizeSandboxSubscription: [billingState],
  createSubscription: subscriptionRules,
  createCustomer: [{ codes: ['invalid_request_error'], why: 'an id that is known, or begins with cus_' }],
  createCheckoutSession: sessionRules,
  cancelCheckoutSession: [paymentState],
  acceptPayment: [paymentState],
  paySandboxSession: [paymentState],
  createRefund: [
    ...refundRules,
    {
      codes: ['resource_not_found'],
      why: 'a malformed id is an unknown one, in a body too',
      applies: ({ body }) => !/"payment_id":"(pay|cs)_[0-9a-z]{26}"/.test(String(body)),
    },
  ],
  cancelRefund: [refundState],
  approveRefund: [signedApproval],
  retrieveRefundStatement: [
    { codes: ['invalid_request_error'], why: 'nothing is signed before the payer has named an address' },
  ],
  claimSandboxRefund: [refundState],
  createPortalSession: [
    { codes: ['invalid_request_error'], why: 'a customer who is known; an address of https' },
  ],
  listSimulatedTransfers: [cursor],
  fundSandbox: [{ codes: ['invalid_request_error'], why: 'above 2^53−1 at 6 digits 400 param amount' }],
  controlSimulatedChain: [
    {
      codes: ['invalid_request_error'],
      why: 'remine says how a reorg goes',
      applies: ({ body }) => body?.includes('"remine"') === true && !body.includes('"reorg"'),
    },
  ],
};

/** Whether the design lets an operation refuse a request that fits with this code. */
export function mayRefuse(operationId: string, code: string, ready: Ready): boolean {
  const rules = RULES[operationId] ?? [];
  return rules.some(({ codes, applies }) => codes.includes(code) && (applies?.(ready) ?? true));
}
