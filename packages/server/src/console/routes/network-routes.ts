import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { encodeId, networkNamed } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import {
  confirmResume,
  readNetworks,
  requestResume,
  resumeSandbox,
  type StoppedChain,
  withdrawRequest,
} from '../networks/index.ts';
import { DONE, Done, needs, Text, userOf } from './own.ts';

const PATH = '/console/api/operator/networks';
const common = { scope: 'read' as const, tag: 'Operator' };
const Time = Type.Union([Type.String(), Type.Null()]);
const NetworkParam = Type.Object({ network: Type.String() });
const Seen = Type.String({
  maxLength: 64,
  description: 'As the list has it: where the network has stopped again since, nothing is done.',
});
const RequestId = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

const ChainSchema = Type.Object({
  network: Type.String(),
  merchant: Type.Union([Type.Object({ merchant_id: Type.String(), name: Type.String() }), Type.Null()], {
    description: 'The sandbox merchant whose chain it is; null: the chain of all live merchants.',
  }),
  seen: Type.String({ description: 'Digest of the stops.' }),
  stops: Type.Array(
    Type.Object({
      what: Type.String({
        description: '`sending`: nothing is sent; `early_credit`: deposits wait for final blocks.',
      }),
      reason: Type.String({ description: 'All causes that were found, the first one first.' }),
      height: Type.Union([Type.Integer(), Type.Null()], { description: 'The lowest block that was found.' }),
      causes: Type.Integer({ description: 'How often something was found since it stopped.' }),
      stopped_at: Time,
      last_at: Time,
    }),
  ),
  request: Type.Union([
    Type.Object({
      request_id: RequestId,
      requested_by: Type.String(),
      email: Type.String(),
      reason: Type.String(),
      requested_at: Time,
      expires_at: Time,
      status: Type.String({
        enum: ['open', 'changed', 'expired', 'void'],
        description:
          '`changed`: the network stopped again since; `void`: who asked is no operator any more. Only `open` is confirmed.',
      }),
    }),
    Type.Null(),
  ]),
});

const secondsOf = (seconds: number | bigint | null) =>
  seconds === null ? null : isoOf(Number(seconds) * 1000);

const presentChain = ({ network, merchant, seen, stops, request }: StoppedChain) => ({
  network,
  merchant: merchant && { merchant_id: encodeId('merchant', merchant.merchantId), name: merchant.name },
  seen,
  stops: stops.map(({ what, reason, height, causes, stopped_at, last_at }) => ({
    what,
    reason,
    height: height === null ? null : Number(height),
    causes,
    stopped_at: secondsOf(stopped_at),
    last_at: secondsOf(last_at),
  })),
  request: request && {
    request_id: request.requestId,
    requested_by: encodeId('user', request.requestedBy),
    email: request.email,
    reason: request.reason,
    requested_at: isoOf(request.createdAtMs),
    expires_at: isoOf(request.expiresAtMs),
    status: request.status,
  },
});

/** What is stopped. */
async function listStopped(deps: ConsoleDeps) {
  const { chains, operators } = await readNetworks(deps);
  return { data: chains.map(presentChain), operators };
}

/** The chain of a network that a change is about, for the audit log of its merchant or of the installation. */
export async function stoppedChain(
  deps: ConsoleDeps,
  { network, merchantId }: { network: string; merchantId: string },
) {
  const { chains } = await readNetworks(deps);
  const own = chains.find(
    (one) => one.network === network && (one.merchant?.merchantId ?? NIL_ID) === merchantId,
  );
  return own && presentChain(own);
}

/** Of real money: one operator asks, another one confirms. */
const requests = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/{network}/resume-requests`,
    operationId: 'requestResume',
    summary:
      'Ask another operator to resume a network of real money; ends after a day, or when it stops again',
    permission: needs('operate', true),
    params: NetworkParam,
    body: Type.Object({ reason: Text(500), seen: Seen }),
    answer: Type.Object({ request_id: RequestId }),
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { reason: typed, seen } = request.body;
      const reason = typed.trim();
      if (reason === '')
        throw new Fail('invalid_request', { message: 'Say what you have found.', param: 'reason' });
      const network = networkNamed(request.params.network);
      const { userId } = userOf(request);
      return { body: { request_id: await requestResume(deps, { network, userId, reason, seen }) } };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/{network}/resume`,
    operationId: 'confirmResume',
    summary: 'Confirm what another operator asked for: the network is resumed for all live merchants',
    permission: needs('operate', true),
    params: NetworkParam,
    body: Type.Object({ request_id: RequestId, seen: Seen }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { request_id: requestId, seen } = request.body;
      const network = networkNamed(request.params.network);
      const { userId } = userOf(request);
      await confirmResume(deps, { network, userId, requestId, seen });
      return DONE;
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/{network}/withdraw`,
    operationId: 'withdrawResume',
    summary: 'Withdraw what was asked for, or refuse it: the network stays stopped',
    permission: needs('operate', true),
    params: NetworkParam,
    body: Type.Object({ request_id: RequestId }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async ({ params, body: { request_id: requestId } }) => {
      await withdrawRequest(deps, { network: networkNamed(params.network), requestId });
      return DONE;
    },
  }),
];

/** The networks that are stopped, and resuming them. */
export const networkRoutes = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: PATH,
    operationId: 'listStoppedNetworks',
    summary: 'What is stopped on which network, why, since when, and who asked to resume it',
    permission: needs('see_installation'),
    answer: Type.Object({
      data: Type.Array(ChainSchema),
      operators: Type.Integer({ description: 'People with the role operator: two resume real money.' }),
    }),
    refusals: [],
    handle: async () => ({ body: await listStopped(deps) }),
  }),
  ...requests(deps),
  defineRoute({
    ...common,
    method: 'POST',
    path: `/console/api/operator/merchants/{merchant_id}/networks/{network}/resume`,
    operationId: 'resumeSandboxNetwork',
    summary: "Resume a sandbox merchant's chain, where no money waits",
    permission: needs('operate', true),
    params: Type.Object({ merchant_id: Type.String(), network: Type.String() }),
    body: Type.Object({ seen: Seen }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async ({ caller: { merchantId }, params, body: { seen } }) => {
      await resumeSandbox(deps, { merchantId, network: networkNamed(params.network), seen });
      return DONE;
    },
  }),
];
