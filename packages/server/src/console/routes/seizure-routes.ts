import Type from 'typebox';
import type { PaymentDeps } from '../../payments/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { invalidParam } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { decideAsOperator, readSeizures, type Seizure, withdrawDecision } from '../seizures/index.ts';
import { DONE, Done, needs, userOf } from './own.ts';

const OPERATOR = '/console/api/operator';
const ONE = `${OPERATOR}/merchants/{merchant_id}/seizures/{payment_id}`;
const PAGE_MAX = 100;
const common = { scope: 'read' as const, tag: 'Operator' };
const params = Type.Object({ merchant_id: Type.String(), payment_id: Type.String() });
const Decision = Type.String({ enum: ['release', 'keep'] });
const TxId = Type.String({
  maxLength: 256,
  pattern: String.raw`^\S+:\d{1,9}$`,
  description: '`<tx_id>:<index>`',
});

const SeizureSchema = Type.Object({
  cursor: Type.String({ description: '`starting_after` of the page behind it.' }),
  merchant: Type.Object({ merchant_id: Type.String(), name: Type.String(), mode: Type.String() }),
  store_id: Type.String(),
  payment_id: Type.String(),
  tx_id: Type.String({ description: 'With the number of the transfer in it: `<tx_id>:<index>`.' }),
  network: Type.String(),
  currency: Type.String(),
  amount: Type.Integer({ description: 'In the smallest unit of the token.' }),
  sender: Type.String(),
  final_at: Type.Union([Type.String(), Type.Null()]),
  decisions: Type.Array(
    Type.Object({
      user_id: Type.String(),
      email: Type.String(),
      decision: Decision,
      at: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: 'Of operators; the second equal one carries it out.' },
  ),
});

const secondsText = (seconds: number | bigint) => isoOf(Number(seconds) * 1000);
const nameOf = ({ tx_id, index }: Seizure) => `${tx_id}:${index}`;

const presentSeizure = (seizure: Seizure) => ({
  cursor: [
    seizure.final_at,
    encodeId('merchant', seizure.merchant_id),
    seizure.network,
    nameOf(seizure),
  ].join(' '),
  merchant: {
    merchant_id: encodeId('merchant', seizure.merchant_id),
    name: seizure.merchant,
    mode: seizure.mode,
  },
  store_id: encodeId('store', seizure.store_id),
  payment_id: encodeId('payment', seizure.payment_id),
  tx_id: nameOf(seizure),
  network: seizure.network,
  currency: seizure.currency,
  amount: Number(seizure.amount),
  sender: seizure.sender,
  final_at: secondsText(seizure.final_at),
  decisions: seizure.votes.map(({ userId, email, decision, at }) => ({
    user_id: encodeId('user', userId),
    email,
    decision,
    at: secondsText(at),
  })),
});

/** @throws Fail `invalid_request` */
function cursorOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const [, finalAt = '', merchant = '', network = '', txId = '', index = ''] =
    /^(\d{1,15}) (mer_\w{26}) (\w{1,8}) (\S{1,200}):(\d{1,9})$/.exec(text) ?? [];
  const merchantId = decodeId('merchant', merchant);
  if (merchantId === undefined)
    throw invalidParam('starting_after', 'starting_after is the `cursor` of a seized transfer.');
  return { finalAt: BigInt(finalAt), merchantId, network, txId, index: Number(index) };
}

const listRoute = (deps: ConsoleDeps & PaymentDeps): Route =>
  withCsv(
    defineRoute({
      ...common,
      method: 'GET',
      path: `${OPERATOR}/seizures`,
      operationId: 'listSeizures',
      summary: 'Seized transfers of all merchants that nobody has decided about, the oldest first',
      permission: needs('see_installation'),
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
        starting_after: Type.Optional(Type.String({ maxLength: 300 })),
        mode: Type.Optional(
          Type.String({ enum: ['live', 'sandbox'], description: 'Of real money, unless it is `sandbox`.' }),
        ),
      }),
      answer: Type.Object({
        data: Type.Array(SeizureSchema),
        has_more: Type.Boolean(),
        operators: Type.Integer({ description: 'People with the role operator: two decide.' }),
      }),
      refusals: [],
      handle: async ({ query: { limit = PAGE_MAX, starting_after, mode: named } }) => {
        const mode = named === 'sandbox' ? named : 'live';
        const after = cursorOf(starting_after);
        const { seizures, operators } = await readSeizures(deps, { mode, limit: limit + 1, after });
        const data = seizures.slice(0, limit).map(presentSeizure);
        return { body: { data, has_more: seizures.length > limit, operators } };
      },
    }),
    'cursor',
  );

/** Money of listed addresses: two operators give it to the merchant, or keep it. */
export const seizureRoutes = (deps: ConsoleDeps & PaymentDeps): Route[] => [
  listRoute(deps),
  defineRoute({
    ...common,
    method: 'POST',
    path: ONE,
    operationId: 'decideSeizure',
    summary:
      'Decide about a seized transfer; the second operator who decides so carries it out. `release`: it counts as if it arrived now; `keep`: it is the operator’s for good',
    permission: needs('operate', true),
    params,
    body: Type.Object({ tx_id: TxId, decision: Decision }),
    answer: Type.Object({ agreed: Type.Integer(), required: Type.Integer(), done: Type.Boolean() }),
    refusals: ['resource_not_found'],
    handle: async (request) => {
      const { tx_id: txId, decision } = request.body;
      const seizure = { ...paymentOf(request), txId };
      const own = {
        userId: userOf(request).userId,
        decision: decision === 'keep' ? decision : 'release',
      } as const;
      const { agreed, required, isDone } = await decideAsOperator(deps, seizure, own);
      return { body: { agreed, required, done: isDone } };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${ONE}/withdraw`,
    operationId: 'withdrawSeizureDecision',
    summary: 'Take back what you have decided about a seized transfer, before another operator agrees',
    permission: needs('operate', true),
    params,
    body: Type.Object({ tx_id: TxId }),
    answer: Done,
    refusals: ['conflict'],
    handle: async (request) => {
      const seizure = { ...paymentOf(request), txId: request.body.tx_id };
      await withdrawDecision(deps, seizure, userOf(request).userId);
      return DONE;
    },
  }),
];

const paymentOf = ({
  caller: { merchantId },
  params: { payment_id: paymentId },
}: {
  caller: { merchantId: string };
  params: { payment_id: string };
}) => ({ merchantId, paymentId: decodeId('payment', paymentId) ?? NIL_ID });
