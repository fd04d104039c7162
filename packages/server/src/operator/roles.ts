import type { App } from '../app.ts';
import { ownRoles } from '../console/index.ts';
import { merchantBy } from './context.ts';

/** Of which merchant; needed where there are several. */
interface OfMerchant {
  merchant?: string | undefined;
}
interface RoleGiven extends OfMerchant {
  name: string;
  /** Of `console/roles.ts`. */
  permissions: readonly string[];
}

/** The roles of a merchant's people. */
export function roleCommands(app: App) {
  const merchantId = async ({ merchant }: OfMerchant) => (await merchantBy(app, merchant)).merchantId;
  return {
    list: async (of: OfMerchant) =>
      (await ownRoles.listRoles(app, await merchantId(of))).map((role) => ({
        name: role.name,
        permissions: role.permissions.join(', '),
        built_in: role.isBuiltIn,
        people: role.members,
      })),
    create: async ({ name, permissions, ...of }: RoleGiven) => {
      const made = await ownRoles.createRole(app, { merchantId: await merchantId(of), name, permissions });
      return { name, permissions: made.permissions.join(', ') };
    },
    edit: async ({ name, permissions, ...of }: RoleGiven) => {
      await ownRoles.editRole(app, { merchantId: await merchantId(of), name, permissions });
      return { name, edited: true };
    },
    delete: async ({ name, ...of }: Omit<RoleGiven, 'permissions'>) => {
      await ownRoles.deleteRole(app, { merchantId: await merchantId(of), name });
      return { name, deleted: true };
    },
  };
}
