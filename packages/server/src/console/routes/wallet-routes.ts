import Type from 'typebox';
import { walletHealth } from '../../payment-methods/health/index.ts';
import { getPaymentMethod, type PaymentMethodDeps } from '../../payment-methods/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { decodeId } from '../../tenancy/index.ts';

/** Wallets may allow 2²⁵⁶ − 1 units. */
const numberOf = (units: bigint): number => Number(units < MOST ? units : MOST);
const MOST = BigInt(Number.MAX_SAFE_INTEGER);
const Units = Type.Integer({ minimum: 0 });

/** Whether the wallets of payment methods can pay what falls due next. */
export const walletRoutes = (deps: PaymentMethodDeps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/stores/{store_id}/payment-methods/{payment_method_id}/wallet',
    operationId: 'readWallet',
    tag: 'Payment methods',
    summary: 'What falls due next, against what the wallet holds and allows',
    scope: 'read',
    permission: { name: 'see' },
    params: Type.Object({
      merchant_id: Type.String(),
      store_id: Type.String(),
      payment_method_id: Type.String(),
    }),
    answer: Type.Object({
      balance: Units,
      allowance: Type.Integer({ minimum: 0, description: `At most ${MOST}, which stands for more.` }),
      cap: Type.Integer({ minimum: 0, description: 'Most of each period.' }),
      due: Type.Union([Units, Type.Null()], {
        description: 'The oldest open invoice, or else the next one; null: nothing, or no rate is known.',
      }),
      problem: Type.Union([Type.String(), Type.Null()], {
        description: 'Why that charge would fail; null: it should succeed.',
      }),
      read_at: Type.Integer({ description: "When the wallet was read: the merchant's clock, Unix seconds." }),
    }),
    refusals: ['resource_not_found'],
    handle: async ({ caller: { merchantId }, params }) => {
      const row = await getPaymentMethod(deps.db, merchantId, params.payment_method_id);
      if (row.store_id !== (decodeId('store', params.store_id) ?? NIL_ID))
        throw new Fail('resource_not_found', 'There is no such payment method.');
      const health = await walletHealth(deps, await getMerchant(deps.db, merchantId), row);
      const { balance, allowance, cap, due, problem, readAt } = health;
      return {
        body: {
          balance: numberOf(balance),
          allowance: numberOf(allowance),
          cap: numberOf(cap),
          due: due === null ? null : numberOf(due),
          problem,
          read_at: readAt,
        },
      };
    },
  }),
];
