import { Currency, Network } from '@florin/contract/schemas';
import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { listRefundable } from '../../refunds/refundable/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';

const Units = (description: string) => Type.Integer({ minimum: 0, description });

const RefundableSchema = Type.Object({
  tx_id: Type.Union([Type.String(), Type.Null()], {
    description:
      'Of a transfer of a wrong token, which is refunded by itself; null: the money of the payment.',
  }),
  currency: Currency,
  network: Network,
  amount: Units('What no refund has taken.'),
  proven: Type.Union(
    [Type.Object({ address: Type.String(), amount: Units('The most that goes there.') }), Type.Null()],
    {
      description:
        'The wallet that was proved to have sent it: where a refund without an address goes, up to an amount.',
    },
  ),
});

/** What a refund of a payment may take, for who refunds it. */
export const refundableRoutes = ({ db }: ConsoleDeps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/stores/{store_id}/payments/{payment_id}/refundable',
    operationId: 'listRefundable',
    tag: 'Refunds',
    summary: 'What is left to refund of a payment, and of each transfer that is refunded by itself',
    scope: 'read',
    permission: { name: 'refund' },
    params: Type.Object({ merchant_id: Type.String(), store_id: Type.String(), payment_id: Type.String() }),
    answer: Type.Object({ data: Type.Array(RefundableSchema) }),
    refusals: ['resource_not_found'],
    handle: async ({ caller: { merchantId }, params }) => {
      const owner = { merchantId, storeId: decodeId('store', params.store_id) ?? NIL_ID };
      const data = await listRefundable(db, owner, params.payment_id);
      return {
        body: {
          data: data.map(({ txId, currency, network, left, proven }) => ({
            tx_id: txId,
            currency,
            network,
            amount: Number(left),
            proven: proven && { address: proven.address, amount: Number(proven.most) },
          })),
        },
      };
    },
  }),
];
