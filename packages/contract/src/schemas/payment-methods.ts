import Type, { type Static } from 'typebox';
import { Metadata } from './checkout.ts';
import { CLOSED, CREATED_QUERY, Currency, ListOf, Network, PAGE_QUERY, Seconds } from './shared.ts';

export const PAYMENT_METHOD_STATUSES = ['active', 'inactive', 'revoked', 'unknown'] as const;
export type PaymentMethodStatus = (typeof PAYMENT_METHOD_STATUSES)[number];

export const PaymentMethod = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('payment_method'),
    customer: Type.String({ description: 'The id of ours: cus_….' }),
    merchant_id: Type.String(),
    type: Type.Literal('wallet_mandate', {
      description: "The payer lets the service pull up to a cap in each period from the payer's own wallet.",
    }),
    currency: Currency,
    chain_type: Type.Integer({ description: '1 erc20, 2 trc20, 3 spl.' }),
    status: Type.Enum([...PAYMENT_METHOD_STATUSES], {
      description:
        'active: can be charged · inactive: balance or allowance is too low, or its term is over · revoked: for good · unknown: the network cannot be read.',
    }),
    mandate_id: Type.String({ description: 'What names the mandate on the network.' }),
    metadata: Metadata,
    created: Seconds('When it was given'),
  },
  { ...CLOSED, $id: 'PaymentMethod' },
);
export type PaymentMethod = Static<typeof PaymentMethod>;
export const PaymentMethodList = ListOf('PaymentMethodList', PaymentMethod);

export const PaymentMethodPath = Type.Object({ payment_method_id: Type.String() }, CLOSED);
export const PaymentMethodQuery = Type.Object(
  {
    customer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Of this customer: your own id, or ours (cus_…).',
      }),
    ),
    status: Type.Optional(Type.Enum([...PAYMENT_METHOD_STATUSES])),
    currency: Type.Optional(Currency),
    network: Type.Optional(Network),
    ...CREATED_QUERY,
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type PaymentMethodQuery = Static<typeof PaymentMethodQuery>;

export const PaymentMethodUpdateInput = Type.Object(
  { metadata: Type.Optional(Metadata) },
  { ...CLOSED, $id: 'PaymentMethodUpdateInput', description: 'What is left out stays as it is.' },
);
export type PaymentMethodUpdateInput = Static<typeof PaymentMethodUpdateInput>;
