import Type, { type Static, type TProperties } from 'typebox';
import { CurrencyCode } from './checkout.ts';
import { CLOSED, CREATED_QUERY, ListOf, PAGE_QUERY, Seconds } from './shared.ts';

export const BILLING_INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type BillingInterval = (typeof BILLING_INTERVALS)[number];

export const INVOICE_STATUSES = ['open', 'paid', 'void'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

export const INVOICE_PAYMENT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'canceled',
  'expired',
] as const;
export type InvoicePaymentStatus = (typeof INVOICE_PAYMENT_STATUSES)[number];

export const BILLING_REASONS = ['subscription_create', 'subscription_cycle', 'subscription_update'] as const;
export type BillingReason = (typeof BILLING_REASONS)[number];

const Price = (description: string) =>
  Type.Integer({ description: `${description}, in the smallest unit of the currency.` });

/** Fields of an invoice and of its preview. */
const DUE = {
  object: Type.Literal('invoice'),
  subscription_id: Type.String(),
  customer: Type.String({ description: 'The id of ours: cus_….' }),
  amount_due: Price('What is to be paid'),
  amount_paid: Price('0 until it is paid, then all of it'),
  amount_remaining: Price('What is left to pay'),
  currency: CurrencyCode,
  payment_status: Type.Enum([...INVOICE_PAYMENT_STATUSES]),
  billing_reason: Type.Enum([...BILLING_REASONS]),
  frequency: Type.Optional(
    Type.String({ description: 'How often, for people: Daily, Weekly, Monthly or Yearly.' }),
  ),
  recurring_interval: Type.Optional(Type.Enum([...BILLING_INTERVALS])),
  recurring_interval_count: Type.Optional(Type.Integer({ description: 'Always 1.' })),
  period_start: Seconds('Where the period that is paid for begins'),
  period_end: Seconds('Where it ends'),
  due_date: Type.Optional(Seconds('By when it is to be paid')),
  created: Seconds('When it was opened'),
} satisfies TProperties;

export const Invoice = Type.Object(
  {
    id: Type.String(),
    ...DUE,
    status: Type.Enum([...INVOICE_STATUSES]),
    payment_id: Type.Optional(
      Type.String({ description: 'The session of its page (cs_…), else its newest charge (pay_…).' }),
    ),
    paid_at: Type.Optional(Seconds('When it was paid')),
  },
  { ...CLOSED, $id: 'Invoice', description: 'A field without a value is absent.' },
);
export type Invoice = Static<typeof Invoice>;
export const InvoiceList = ListOf('InvoiceList', Invoice);

export const InvoicePreview = Type.Object(DUE, {
  ...CLOSED,
  $id: 'InvoicePreview',
  description: 'An invoice that would be opened: without id and status.',
});
export type InvoicePreview = Static<typeof InvoicePreview>;

export const InvoicePath = Type.Object({ invoice_id: Type.String() }, CLOSED);
export const InvoiceQuery = Type.Object(
  {
    customer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Of this customer: your own id, or ours (cus_…).',
      }),
    ),
    subscription: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Of this subscription.' }),
    ),
    status: Type.Optional(Type.Enum([...INVOICE_STATUSES])),
    ...CREATED_QUERY,
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type InvoiceQuery = Static<typeof InvoiceQuery>;
