import Type, { type Static } from 'typebox';
import { CLOSED, CREATED_QUERY, ListOf, OrNull, PAGE_QUERY, Seconds } from './shared.ts';

/** Mails to payers, by what they are about. */
export const PAYER_MAIL_KINDS = [
  'receipt',
  'payment_underpaid',
  'payment_incomplete',
  'payment_late',
  'payment_wrong_token',
  'refund_claim',
  'refund_sent',
  'refund_paid',
  'subscription_begun',
  'renewal_short',
  'payment_failed',
  'subscription_ending',
  'subscription_canceled',
] as const;
/** Mails to the merchant's own people. */
export const MERCHANT_MAIL_KINDS = [
  'endpoint_failing',
  'endpoint_disabled',
  'payout_waiting',
  'payout_failed',
  'refund_waiting',
  'network_stopped',
] as const;
/** Mails to somebody of the console, about how they come in. */
export const PEOPLE_MAIL_KINDS = ['invitation', 'factors_reset'] as const;
export const MAIL_KINDS = [...PAYER_MAIL_KINDS, ...MERCHANT_MAIL_KINDS, ...PEOPLE_MAIL_KINDS] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export const MAIL_STATUSES = [
  'caught',
  'pending',
  'sending',
  'sent',
  'failed',
  'unconfirmed',
  'off',
] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

const FIELDS = {
  id: Type.String(),
  object: Type.Literal('mail'),
  kind: Type.Enum([...MAIL_KINDS]),
  to: Type.String({ description: 'The address.' }),
  language: Type.String({ description: 'A language of the pages, such as en.' }),
  about: Type.String({
    description:
      'Id of what it is about: a payment, a refund, a subscription, an endpoint, a payout batch or a person.',
  }),
  status: Type.Enum([...MAIL_STATUSES], {
    description:
      '`caught`: a sandbox sends none; `off`: no mail server is configured; `unconfirmed`: the connection ended before the mail server answered, and it is not sent twice.',
  }),
  attempts: Type.Integer({ minimum: 0 }),
  error: OrNull(Type.String({ description: 'What the mail server said last, if it took no mail.' })),
  created: Seconds('When it was made'),
  ended_at: OrNull(Seconds('When it was sent, or given up')),
};

export const Mail = Type.Object(FIELDS, { ...CLOSED, $id: 'Mail' });
export type Mail = Static<typeof Mail>;
export const MailList = ListOf('MailList', Mail);

const Content = (what: string) => OrNull(Type.String({ description: `${what}; null for real money.` }));

export const MailWithContent = Type.Object(
  { ...FIELDS, subject: Content('The subject'), text: Content('As plain text'), html: Content('As HTML') },
  {
    ...CLOSED,
    $id: 'MailWithContent',
    description:
      'Content is shown in a sandbox only: a mail may hold a link that only its recipient should open.',
  },
);
export type MailWithContent = Static<typeof MailWithContent>;

export const MailPath = Type.Object({ mail_id: Type.String({ description: 'mail_…' }) }, CLOSED);
export const MailQuery = Type.Object(
  {
    kind: Type.Optional(Type.Enum([...MAIL_KINDS])),
    status: Type.Optional(Type.Enum([...MAIL_STATUSES])),
    to: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'To this address.' })),
    about: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'About this.' })),
    ...CREATED_QUERY,
    ...PAGE_QUERY,
  },
  CLOSED,
);
export type MailQuery = Static<typeof MailQuery>;
