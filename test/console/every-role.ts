import { createRole } from '../../packages/server/src/console/accounts/own-roles/index.ts';
import {
  BUILT_IN,
  INSTALLATION_ROLES,
  MERCHANT_PERMISSIONS,
  type Roles,
  roleNamed,
} from '../../packages/server/src/console/roles.ts';

/**
 * Every role: those of a merchant, those of the installation, and of each permission one that the merchant has made for it
 * alone. These are made here.
 */
export async function everyRole(
  deps: Parameters<typeof createRole>[0],
  merchantId: string,
): Promise<(Roles & { name: string })[]> {
  const alone = MERCHANT_PERMISSIONS.map((one) => roleNamed(`only-${one}`, ['see', one]));
  for (const { name, permissions } of alone) await createRole(deps, { merchantId, name, permissions });
  return [
    ...[...BUILT_IN.values(), ...alone].map((role) => ({ name: role.name, role, installationRole: null })),
    ...INSTALLATION_ROLES.map((name) => ({ name, role: null, installationRole: name })),
  ];
}
