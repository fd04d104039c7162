import { SCOPES, type Scope } from '@florin/contract/scopes';
import { keysOf } from '@florin/contract/tables';

/** What a merchant's user may do. One row each, with the roles that have it. */
const PERMISSIONS = {
  /** Payments, invoices, payouts, balances, reports. */
  see: ['owner', 'admin', 'developer', 'finance', 'approver', 'support', 'viewer'],
  /** Request log, events, deliveries. */
  see_requests: ['owner', 'admin', 'developer', 'support'],
  create_payouts: ['owner', 'admin', 'finance'],
  /** Payouts and refunds that one has neither created, edited nor submitted. */
  approve: ['owner', 'approver'],
  refund: ['owner', 'admin', 'finance', 'support'],
  /** Late or partial money. */
  accept_payments: ['owner', 'admin', 'finance'],
  /** Checkout sessions, payment links, customers, links of the portal. */
  edit_checkout: ['owner', 'admin', 'developer', 'finance', 'support'],
  edit_subscriptions: ['owner', 'admin', 'support'],
  /** API keys, webhook endpoints, sending again. */
  edit_keys: ['owner', 'admin', 'developer'],
  /** Clock, chains, wallets and inboxes of a sandbox. */
  use_sandbox: ['owner', 'admin', 'developer', 'finance', 'approver', 'support'],
  manage_users: ['owner', 'admin'],
  read_audit_log: ['owner', 'admin'],
  /** Asking the operator for another store; how stores present themselves, and the rules that hold for them. */
  edit_stores: ['owner', 'admin'],
  /** Merchants, their stores, networks and jobs of the whole installation: of no role of a merchant. */
  see_installation: [],
  operate: [],
} as const satisfies Record<string, readonly string[]>;

export type Permission = keyof typeof PERMISSIONS;
const ALL_PERMISSIONS = keysOf(PERMISSIONS);
export const ROLES = ['owner', 'admin', 'developer', 'finance', 'approver', 'support', 'viewer'] as const;
export type Role = (typeof ROLES)[number];
export const INSTALLATION_ROLES = ['operator', 'auditor'] as const;
export type InstallationRole = (typeof INSTALLATION_ROLES)[number];

/** What an auditor of the installation may do with every merchant: read. */
const OF_AUDITORS: readonly Permission[] = ['see', 'see_requests', 'read_audit_log', 'see_installation'];
/** What an operator may do with every merchant: merchants need somebody who invites their first owner. */
const OF_OPERATORS: readonly Permission[] = [...OF_AUDITORS, 'manage_users', 'operate'];
const MOVES_MONEY: readonly Permission[] = ['create_payouts', 'approve', 'refund', 'accept_payments'];
const NEEDS_SECOND_FACTOR: readonly Permission[] = [
  ...MOVES_MONEY,
  'edit_keys',
  'manage_users',
  'see_installation',
  'operate',
];

/** The roles of one person: with one merchant, and for the installation. */
export interface Roles {
  role: Role | null;
  installationRole: InstallationRole | null;
}

export function permissionsOf({ role, installationRole }: Roles): Permission[] {
  const ofInstallation =
    installationRole === 'operator' ? OF_OPERATORS : installationRole === 'auditor' ? OF_AUDITORS : [];
  return ALL_PERMISSIONS.filter((permission) => {
    const roles: readonly string[] = PERMISSIONS[permission];
    return ofInstallation.includes(permission) || (role !== null && roles.includes(role));
  });
}

/** The roles of a merchant's people that have each permission; those of the installation alone are none's. */
export const rolesWithPermissions = (): Record<string, Role[]> =>
  Object.fromEntries(ALL_PERMISSIONS.map((permission) => [permission, [...PERMISSIONS[permission]]]));

/** Whether a role approves payouts and refunds. */
export const mayApprove = (role: Role | null): boolean =>
  permissionsOf({ role, installationRole: null }).includes('approve');

/** Whether a person with such roles needs a second factor before any of them counts. */
export const needsSecondFactor = (roles: Roles): boolean =>
  permissionsOf(roles).some((permission) => NEEDS_SECOND_FACTOR.includes(permission));

/** Whether an idle session of such roles ends early. */
export const movesMoney = (roles: Roles): boolean =>
  roles.installationRole === 'operator' ||
  permissionsOf(roles).some((permission) => MOVES_MONEY.includes(permission));

/**
 * Admins manage everybody but owners and approvers: they neither make, change nor remove one, as they may not approve what
 * they draw up themselves. An operator brings a merchant its first
 * people; once it has an owner, only its own people manage them.
 */
export function mayAssign(
  by: Roles,
  { before, after, hasOwner }: { before: Role | null; after: Role | null; hasOwner: boolean },
): boolean {
  if (by.installationRole === 'operator' && !hasOwner) return true;
  if (!permissionsOf({ role: by.role, installationRole: null }).includes('manage_users')) return false;
  return by.role === 'owner' || !(mayApprove(before) || mayApprove(after));
}

/** What a person may do who gives real money's keys a scope: nobody hands out what is not theirs. */
const GIVES: Readonly<Record<Scope, readonly Permission[]>> = {
  read: ['see'],
  write: ['edit_checkout', 'accept_payments', 'edit_subscriptions', 'edit_keys'],
  payouts: ['create_payouts'],
  refunds: ['refund'],
};

/** The scopes of live keys that a person may give, as they may do all that such a key does. */
export const givableScopes = (permissions: readonly string[]): Scope[] =>
  SCOPES.filter((scope) => GIVES[scope].every((needed) => permissions.includes(needed)));
