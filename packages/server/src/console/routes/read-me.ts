import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, factors, users } from '../accounts/index.ts';
import { ownRolesOf } from '../accounts/own-roles/index.ts';
import { csrfTokenOf } from '../authenticate.ts';
import { BUILT_IN, needsSecondFactor, permissionsOf, rolesWithPermissions } from '../roles.ts';

export const Me = Type.Object({
  user_id: Type.String(),
  email: Type.String(),
  csrf_token: Type.String({ description: 'For the header X-CSRF-Token of every change.' }),
  installation_role: Type.Union([Type.String(), Type.Null()]),
  installation_permissions: Type.Array(Type.String(), {
    description: 'What the role of the installation permits with every merchant.',
  }),
  second_factor: Type.Boolean({ description: 'An authenticator app is set up, or a passkey.' }),
  authenticator: Type.Boolean({ description: 'An authenticator app is set up.' }),
  roles_with: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'For each permission the built-in roles of a merchant that have it.',
  }),
  merchants: Type.Array(
    Type.Object({
      merchant_id: Type.String(),
      name: Type.String(),
      mode: Type.String(),
      role: Type.String(),
      permissions: Type.Array(Type.String()),
      needs_second_factor: Type.Boolean(),
      own_roles: Type.Array(Type.Object({ name: Type.String(), permissions: Type.Array(Type.String()) }), {
        description: 'Roles that the merchant has made for itself.',
      }),
    }),
  ),
});

/** A person, as they see themselves. @param token of their session */
export async function readMe({ db }: ConsoleDeps, { userId, token }: { userId: string; token: string }) {
  const user = await users.getUser(db, userId);
  const { installationRole } = await users.rolesOf(db, userId, NIL_ID);
  const memberships = await users.membershipsOf(db, userId);
  const merchantIds = memberships.map(({ merchant_id: id }) => id);
  const ownRolesBy = await ownRolesOf(db, merchantIds);
  return {
    user_id: encodeId('user', userId),
    email: user.email,
    csrf_token: csrfTokenOf(token),
    installation_role: installationRole,
    installation_permissions: permissionsOf({ role: null, installationRole }),
    second_factor: await factors.hasFactor(db, user),
    authenticator: user.totp_confirmed,
    roles_with: rolesWithPermissions([...BUILT_IN.values()]),
    merchants: memberships.map(({ merchant_id: id, name, mode, role }) => ({
      merchant_id: encodeId('merchant', id),
      name,
      mode,
      role: role.name,
      permissions: permissionsOf({ role, installationRole }),
      needs_second_factor: needsSecondFactor({ role, installationRole }),
      own_roles: (ownRolesBy.get(id) ?? []).map((one) => ({
        name: one.name,
        permissions: [...one.permissions],
      })),
    })),
  };
}
