import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import { ListedKeySchema, listKeys } from '../../stores/key-lists/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { inviteByMail, type PeopleMailDeps, resetFactorsByMail } from '../accounts/mails/index.ts';
import { DONE, Done, needs, userOf } from './own.ts';

type Request = Pick<RouteRequest<unknown, unknown, unknown>, 'caller'>;

const PATH = '/console/api/merchants/{merchant_id}';
const common = { scope: 'read' as const, tag: 'Team' };
const Merchant = Type.Object({ merchant_id: Type.String() });
const Member = Type.Object({ merchant_id: Type.String(), user_id: Type.String() });
const RoleName = Type.String({ minLength: 1, maxLength: 32, description: 'As `listRoles` names it.' });

const User = Type.Object({
  user_id: Type.String(),
  email: Type.String(),
  role: Type.String(),
  status: Type.Union([Type.Literal('invited'), Type.Literal('active')]),
  second_factor: Type.Boolean(),
});

async function change(
  deps: ConsoleDeps,
  request: Request & { params: { user_id: string } },
  wanted: { role: string | null; seen?: string },
) {
  const { merchantId } = request.caller;
  const userId = decodeId('user', request.params.user_id) ?? NIL_ID;
  await users.changeRole(deps, { merchantId, userId, ...wanted }, userOf(request).userId);
  return DONE;
}

function userRoutes(deps: PeopleMailDeps): Route[] {
  return [
    withCsv(
      defineRoute({
        ...common,
        method: 'GET',
        path: `${PATH}/users`,
        operationId: 'listUsers',
        summary: 'People with a role, and who is invited',
        permission: needs('manage_users'),
        params: Merchant,
        answer: Type.Object({ data: Type.Array(User) }),
        refusals: [],
        handle: async ({ caller }) => ({
          body: {
            data: (await users.listUsers(deps, caller.merchantId)).map((user) => ({
              user_id: encodeId('user', user.userId),
              email: user.email,
              role: user.role,
              status: user.isInvited ? ('invited' as const) : ('active' as const),
              second_factor: user.hasSecondFactor,
            })),
          },
        }),
      }),
    ),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${PATH}/users`,
      operationId: 'inviteUser',
      summary:
        'Invite a person by a link that works once, within 7 days; by mail where there is a mail server',
      permission: needs('manage_users', true),
      params: Merchant,
      body: Type.Object({ email: Type.String({ maxLength: 256 }), role: RoleName }),
      answer: Type.Object({
        user_id: Type.String(),
        link_token: Type.Union([Type.String(), Type.Null()], {
          description:
            'Shown once; stands behind `/console/link#`. Null: the person gets it by mail, and nobody else does.',
        }),
        expires_at: Type.String(),
      }),
      refusals: ['conflict'],
      handle: async (request) => {
        const { merchantId } = request.caller;
        const input = { merchantId, ...request.body };
        const made = await inviteByMail(deps, input, userOf(request).userId);
        const expires_at = isoOf(made.expiresAtMs) ?? '';
        return { body: { user_id: encodeId('user', made.userId), link_token: made.token, expires_at } };
      },
    }),
  ];
}

function memberRoutes(deps: ConsoleDeps): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'PUT',
      path: `${PATH}/users/{user_id}`,
      operationId: 'changeRole',
      summary: 'Give a person another role',
      permission: needs('manage_users', true),
      params: Member,
      body: Type.Object({
        role: RoleName,
        seen: Type.Optional(
          Type.String({
            maxLength: 32,
            description:
              'The role that the page showed: where somebody has changed it since, nothing is done.',
          }),
        ),
      }),
      answer: Done,
      refusals: ['conflict', 'resource_not_found'],
      handle: (request) => change(deps, request, request.body),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: `${PATH}/users/{user_id}`,
      operationId: 'removeUser',
      summary: 'Take a role or an invitation away; open sessions end at once',
      permission: needs('manage_users', true),
      params: Member,
      answer: Done,
      refusals: ['conflict', 'resource_not_found'],
      handle: (request) => change(deps, request, { role: null }),
    }),
  ];
}

/** What is looked at, and done, where somebody goes or has lost what they sign in with. */
function careRoutes(deps: PeopleMailDeps): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: `${PATH}/users/{user_id}/keys`,
      operationId: 'listKeysOfUser',
      summary:
        'API keys whose secret a person was shown, and which still ask or sign webhooks: whoever goes still knows them',
      permission: needs('manage_users'),
      params: Member,
      answer: Type.Object({ data: Type.Array(ListedKeySchema) }),
      refusals: [],
      handle: async ({ caller: { merchantId }, params }) => {
        const holderId = decodeId('user', params.user_id) ?? NIL_ID;
        const keys = await listKeys(deps, { merchantId, holderId });
        return { body: { data: keys.filter((key) => key.status === 'active' || key.signs_webhooks) } };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${PATH}/users/{user_id}/reset-factors`,
      operationId: 'resetFactors',
      summary: 'Take the second factors of somebody who has lost them; their sessions end at once',
      description:
        'Another owner does it. The person signs in with their password and sets new factors up. Who has a role elsewhere, too, is for the operator to help.',
      permission: needs('manage_users', true),
      params: Member,
      body: Type.Object({}),
      answer: Done,
      refusals: ['conflict', 'resource_not_found'],
      handle: async (request) => {
        const userId = decodeId('user', request.params.user_id) ?? NIL_ID;
        await resetFactorsByMail(
          deps,
          { merchantId: request.caller.merchantId, userId },
          userOf(request).userId,
        );
        return DONE;
      },
    }),
  ];
}

/** The people of a merchant. */
export const teamRoutes = (deps: PeopleMailDeps): Route[] => [
  ...userRoutes(deps),
  ...memberRoutes(deps),
  ...careRoutes(deps),
];
