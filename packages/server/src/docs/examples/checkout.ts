import type {
  CheckoutSessionInput,
  CustomerChange,
  CustomerInput,
  PaymentLinkInput,
  RefundInput,
} from '@florin/contract/schemas';
import type { Example, Examples } from './example.ts';
import { FRESH, IDS } from './ids.ts';
import { APPROVAL, NO_SIGNER } from './payouts.ts';

const session = {
  amount: 1999,
  currency: 'USD',
  order_id: 'A-17',
  description: 'Two tickets',
  customer_email: 'ada@shop.example',
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/cart',
} as const satisfies CheckoutSessionInput;
const customer = {
  external_customer_id: FRESH.customer,
  email: 'ada@shop.example',
  name: 'Ada',
} as const satisfies CustomerInput;
const link = { amount: 1500, currency: 'EUR', description: 'Workshop' } as const satisfies PaymentLinkInput;
/** Half of the price. */
const refund = {
  refund_id: FRESH.refund,
  payment_id: IDS.payment,
  amount: 9_995_000,
  currency: 'USDT',
  reason: 'One ticket was returned',
} as const satisfies RefundInput;

const SESSION = { call: 'createCheckoutSession' };
const PAY = { call: 'paySandboxSession' };
const REFUND = [SESSION, PAY, { call: 'createRefund' }];
const CUSTOMER = { call: 'createCustomer' };
const LINK = { call: 'createPaymentLink' };
const MAIL = [SESSION, PAY, { call: 'listMails' }];

const onSession = (sdk: string): Example => ({ sdk, given: [SESSION] });
const onRefund = (sdk: string): Example => ({ sdk, given: REFUND });

export const CHECKOUT_EXAMPLES: Examples = {
  createCheckoutSession: {
    sdk: 'checkout.sessions.create',
    body: session,
    makes: { [IDS.session]: 'id', [IDS.payment]: 'payment_id' },
  },
  listCheckoutSessions: onSession('checkout.sessions.list'),
  retrieveCheckoutSession: onSession('checkout.sessions.retrieve'),
  cancelCheckoutSession: onSession('checkout.sessions.cancel'),
  listPayments: { sdk: 'payments.list', given: [SESSION, PAY] },
  retrievePayment: { sdk: 'payments.retrieve', given: [SESSION, PAY] },
  acceptPayment: {
    sdk: 'payments.accept',
    body: {},
    given: [SESSION, { ...PAY, body: { currency: 'USDT', network: 'erc20', amount: 19_000_000 } }],
  },
  createPaymentLink: { sdk: 'paymentLinks.create', body: link, makes: { [IDS.link]: 'id' } },
  updatePaymentLink: { sdk: 'paymentLinks.update', body: { active: false }, given: [LINK] },
  listPaymentLinks: { sdk: 'paymentLinks.list', given: [LINK] },
  retrievePaymentLink: { sdk: 'paymentLinks.retrieve', given: [LINK] },
  createRefund: { sdk: 'refunds.create', body: refund, units: ['amount'], given: [SESSION, PAY] },
  listRefunds: onRefund('refunds.list'),
  retrieveRefund: onRefund('refunds.retrieve'),
  cancelRefund: onRefund('refunds.cancel'),
  retrieveRefundStatement: { sdk: 'refunds.statement', given: [...REFUND, { call: 'claimSandboxRefund' }] },
  approveRefund: { ...onRefund('refunds.approve'), body: APPROVAL, refusedBySandbox: NO_SIGNER },
  createCustomer: { sdk: 'customers.create', body: customer, makes: { [IDS.customer]: 'id' } },
  listCustomers: { sdk: 'customers.list', given: [CUSTOMER] },
  retrieveCustomer: { sdk: 'customers.retrieve', given: [CUSTOMER] },
  updateCustomer: {
    sdk: 'customers.update',
    body: { name: 'Ada Lovelace' } satisfies CustomerChange,
    given: [CUSTOMER],
  },
  listMails: { sdk: 'mails.list', given: MAIL, makes: { [IDS.mail]: 'data.0.id' } },
  retrieveMail: { sdk: 'mails.retrieve', given: MAIL },
};
