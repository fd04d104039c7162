import Type, { type Static } from 'typebox';
import { CLOSED, ListOf, PAGE_QUERY, Seconds } from './shared.ts';

/** A merchant's own id of a customer. */
export const ExternalCustomerId = Type.String({
  minLength: 1,
  maxLength: 128,
  description:
    'Your own id of the customer; it may not begin with cus_. A new one is in NFC, without control and zero-width characters.',
  examples: ['customer-17'],
});
/** Letters of all scripts; what mail servers do not take without quotes is left out. */
const MAIL_PART = '[^\\s@.,:;<>()\\[\\]"\\\\]+';
const DOTTED = `${MAIL_PART}(\\.${MAIL_PART})*`;
export const EMAIL_PATTERN = `^${DOTTED}@${DOTTED}$`;
export const EMAIL_LENGTH_MAX = 254;
export const CustomerEmail = Type.String({
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  pattern: EMAIL_PATTERN,
});

export const CustomerName = Type.String({ minLength: 1, maxLength: 200 });
export const CustomerPhone = Type.String({ minLength: 1, maxLength: 50 });

const DETAILS = {
  email: Type.Optional(CustomerEmail),
  name: Type.Optional(CustomerName),
  phone: Type.Optional(CustomerPhone),
  description: Type.Optional(Type.String({ maxLength: 500, description: 'For yourself.' })),
};

export const Customer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('customer'),
    merchant_id: Type.String(),
    external_customer_id: Type.String({
      description: 'Your own id, by which other calls name the customer.',
    }),
    email: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    default_payment_method: Type.Optional(
      Type.String({ description: 'The newest active payment method that was given at a checkout.' }),
    ),
    description: Type.Optional(Type.String()),
    created: Seconds('When it was made'),
  },
  { ...CLOSED, $id: 'Customer', description: 'A field without a value is absent.' },
);
export type Customer = Static<typeof Customer>;
export const CustomerList = ListOf('CustomerList', Customer);

export const CustomerPath = Type.Object(
  { customer_id: Type.String({ description: 'The id of ours: cus_….' }) },
  CLOSED,
);
export const CustomerQuery = Type.Object(
  {
    external_customer_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'The one with this id of yours.' }),
    ),
    email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description: 'Those with this e-mail address, in whichever case it was given.',
      }),
    ),
    ...PAGE_QUERY,
  },
  CLOSED,
);
export const CustomerInput = Type.Object(
  { external_customer_id: ExternalCustomerId, ...DETAILS },
  { ...CLOSED, $id: 'CustomerInput' },
);
export type CustomerInput = Static<typeof CustomerInput>;
export const CustomerChange = Type.Object(DETAILS, {
  ...CLOSED,
  $id: 'CustomerChange',
  description: 'What is left out stays as it is.',
});
export type CustomerChange = Static<typeof CustomerChange>;
