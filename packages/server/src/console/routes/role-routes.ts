import Type from 'typebox';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import * as ownRoles from '../accounts/own-roles/index.ts';
import { MERCHANT_PERMISSIONS, mayAssign, type Role } from '../roles.ts';
import { DONE, Done, needs, Text, userOf } from './own.ts';

const PATH = '/console/api/merchants/{merchant_id}/roles';
const common = { scope: 'read' as const, tag: 'Team' };
const Merchant = Type.Object({ merchant_id: Type.String() });
const Named = Type.Object({ merchant_id: Type.String(), role: Type.String() });
const NAME_LENGTH_MAX = 32;

const Permissions = Type.Array(Type.String({ enum: [...MERCHANT_PERMISSIONS] }), {
  maxItems: MERCHANT_PERMISSIONS.length,
  description: 'What the role permits, beside `see`, which every role has.',
});

const ListedRole = Type.Object({
  name: Type.String(),
  permissions: Type.Array(Type.String()),
  is_built_in: Type.Boolean({ description: 'It is the same for every merchant, and nobody changes it.' }),
  members: Type.Integer({ description: 'People who have it.' }),
  is_assignable: Type.Boolean({ description: 'Whoever asks may give and take it.' }),
});

/** All roles, as somebody sees them who may give some of them. */
async function list(deps: ConsoleDeps, merchantId: string, by: string) {
  const roles = await users.rolesOf(deps.db, by, merchantId);
  const hasOwner = (await users.listOwned(deps.db, [merchantId])).size > 0;
  const mayGive = (after: Role) => mayAssign(roles, { before: null, after, hasOwner });
  const listed = await ownRoles.listRoles(deps, merchantId);
  return {
    data: listed.map(({ isBuiltIn, ...role }) => ({
      name: role.name,
      permissions: [...role.permissions],
      is_built_in: isBuiltIn,
      members: role.members,
      is_assignable: mayGive(role),
    })),
    givable_permissions: MERCHANT_PERMISSIONS.filter((one) => mayGive({ name: '', permissions: [one] })),
  };
}

function listRoutes(deps: ConsoleDeps): Route[] {
  return [
    withCsv(
      defineRoute({
        ...common,
        method: 'GET',
        path: PATH,
        operationId: 'listRoles',
        summary: 'Roles, with what each permits',
        permission: needs('manage_users'),
        params: Merchant,
        answer: Type.Object({
          data: Type.Array(ListedRole),
          givable_permissions: Type.Array(Type.String(), {
            description: 'What whoever asks may give a role of the merchant’s own.',
          }),
        }),
        refusals: [],
        handle: async (request) => ({
          body: await list(deps, request.caller.merchantId, userOf(request).userId),
        }),
      }),
    ),
    defineRoute({
      ...common,
      method: 'POST',
      path: PATH,
      operationId: 'createRole',
      summary: 'Make a role of the merchant’s own',
      description:
        'Nobody gives a role what their own role may not: an admin makes none that approves payouts and refunds.',
      permission: needs('manage_users', true),
      params: Merchant,
      body: Type.Object({ name: Text(NAME_LENGTH_MAX), permissions: Permissions }),
      answer: Done,
      refusals: ['conflict'],
      handle: async (request) => {
        const { merchantId } = request.caller;
        await ownRoles.createRole(deps, { merchantId, ...request.body }, userOf(request).userId);
        return DONE;
      },
    }),
  ];
}

function changeRoutes(deps: ConsoleDeps): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'PUT',
      path: `${PATH}/{role}`,
      operationId: 'editRole',
      summary: 'Change what a role of the merchant’s own permits, for all who have it, at once',
      permission: needs('manage_users', true),
      params: Named,
      body: Type.Object({
        permissions: Permissions,
        seen: Type.Optional(
          Type.Array(Type.String({ maxLength: 64 }), {
            maxItems: 64,
            description:
              'What the page showed that the role permits: where somebody has changed it since, nothing is done.',
          }),
        ),
      }),
      answer: Done,
      refusals: ['conflict', 'resource_not_found'],
      handle: async (request) => {
        const { caller, params, body } = request;
        const wanted = { merchantId: caller.merchantId, name: params.role, ...body };
        await ownRoles.editRole(deps, wanted, userOf(request).userId);
        return DONE;
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: `${PATH}/{role}`,
      operationId: 'deleteRole',
      summary: 'Delete a role of the merchant’s own that nobody has',
      permission: needs('manage_users', true),
      params: Named,
      answer: Done,
      refusals: ['conflict', 'resource_not_found'],
      handle: async (request) => {
        const wanted = { merchantId: request.caller.merchantId, name: request.params.role };
        await ownRoles.deleteRole(deps, wanted, userOf(request).userId);
        return DONE;
      },
    }),
  ];
}

/** The roles of a merchant: the built-in ones, and those that it makes for itself. */
export const roleRoutes = (deps: ConsoleDeps): Route[] => [...listRoutes(deps), ...changeRoutes(deps)];
