import Type, { type Static } from 'typebox';
import { CurrencyCode } from './checkout.ts';
import { CLOSED, ListOf, OrNull, PAGE_QUERY, Seconds } from './shared.ts';

export const PaymentLink = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment_link'),
    store_id: Type.String(),
    url: Type.String({ description: 'What payers open, as often as they like.' }),
    amount: OrNull(
      Type.Integer({ description: 'In the smallest unit of the currency; null: the payer says how much.' }),
    ),
    open: Type.Boolean({ description: 'Whether the payer says how much.' }),
    currency: CurrencyCode,
    description: OrNull(Type.String()),
    active: Type.Boolean({ description: 'Whether it can be paid.' }),
    created: Seconds('When it was made'),
  },
  { ...CLOSED, $id: 'PaymentLink' },
);
export type PaymentLink = Static<typeof PaymentLink>;
export const PaymentLinkList = ListOf('PaymentLinkList', PaymentLink);

export const PaymentLinkPath = Type.Object({ payment_link_id: Type.String() }, CLOSED);
export const PaymentLinkQuery = Type.Object(PAGE_QUERY, CLOSED);
export const PaymentLinkInput = Type.Object(
  {
    amount: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'In the smallest unit of the currency: cents of USD, whole JPY, 6 digits of USDT and USDC.',
        examples: [1999],
      }),
    ),
    open: Type.Optional(Type.Literal(true, { description: 'Instead of `amount`: the payer says how much.' })),
    currency: CurrencyCode,
    description: Type.Optional(Type.String({ maxLength: 500, description: 'Shown to the payer.' })),
  },
  { ...CLOSED, $id: 'PaymentLinkInput' },
);
export type PaymentLinkInput = Static<typeof PaymentLinkInput>;
export const PaymentLinkChange = Type.Object(
  { active: Type.Optional(Type.Boolean()) },
  { ...CLOSED, $id: 'PaymentLinkChange', description: 'What is left out stays as it is.' },
);
export type PaymentLinkChange = Static<typeof PaymentLinkChange>;
