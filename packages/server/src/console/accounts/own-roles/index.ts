export { ownRolesOf } from '../members.ts';
export { createRole, deleteRole, editRole, listRoles } from './own-roles.ts';
