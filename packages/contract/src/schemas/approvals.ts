import Type, { type Static } from 'typebox';
import { CLOSED, Currency, Network, OrNull, Seconds } from './shared.ts';

/** What approvers sign of a payout batch or refund of real money. */
export const ApprovalSubject = Type.Object(
  {
    kind: Type.Enum(['payout', 'refund']),
    merchant: Type.String({ description: 'UUID of the merchant.' }),
    id: Type.String({ description: 'UUID of the batch or refund.' }),
    network: Network,
    asset: Currency,
    items: Type.Array(
      Type.Object(
        {
          place: Type.Integer({ minimum: 0 }),
          to: Type.String({ description: "The recipient's address." }),
          amount: Type.String({ pattern: '^[0-9]+$', description: 'In the smallest unit (6 digits).' }),
          memo: OrNull(Type.String()),
        },
        CLOSED,
      ),
      { description: 'All of them, by place from 0.' },
    ),
  },
  { ...CLOSED, $id: 'ApprovalSubject' },
);
export type ApprovalSubject = Static<typeof ApprovalSubject>;

/** An approver's signature over it. */
export const ApprovalInput = Type.Object(
  {
    approver: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The registered approver whose key has signed.',
    }),
    valid_until: Seconds('Until when the signature is good, at most 30 days'),
    signature: Type.String({
      pattern: '^0x(?:[0-9a-f]{128}|[0-9a-f]{130})$',
      description: 'Hex: Ed25519 over the text of the statement, or EIP-712 of an Ethereum wallet.',
    }),
  },
  { ...CLOSED, $id: 'ApprovalInput' },
);
export type ApprovalInput = Static<typeof ApprovalInput>;
