export { createRole, deleteRole, editRole, listRoles, ownRolesOf } from './own-roles.ts';
