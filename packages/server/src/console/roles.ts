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
/** Those of a merchant's roles. */
export const MERCHANT_PERMISSIONS = ALL_PERMISSIONS.filter((name) => PERMISSIONS[name].length > 0);
export const ROLES = ['owner', 'admin', 'developer', 'finance', 'approver', 'support', 'viewer'] as const;
type BuiltIn = (typeof ROLES)[number];
export const INSTALLATION_ROLES = ['operator', 'auditor'] as const;
export type InstallationRole = (typeof INSTALLATION_ROLES)[number];

/** The role of who may do everything with a merchant. It always has one. */
export const OWNER = 'owner' satisfies BuiltIn;

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

/** A role with a merchant: a built-in one, or one that the merchant has made for itself. */
export interface Role {
  name: string;
  permissions: readonly Permission[];
}

const columnOf = (name: BuiltIn): Permission[] =>
  MERCHANT_PERMISSIONS.filter((permission) => {
    const roles: readonly string[] = PERMISSIONS[permission];
    return roles.includes(name);
  });

/** The column of the table for each built-in role. */
export const BUILT_IN: ReadonlyMap<string, Role> = new Map(
  ROLES.map((name) => [name, { name, permissions: columnOf(name) }]),
);

/**
 * A role by its name.
 *
 * @param permissions of one that the merchant has made; what this version does not know permits nothing
 */
export const roleNamed = (name: string, permissions: readonly string[] | null): Role =>
  BUILT_IN.get(name) ?? {
    name,
    permissions: MERCHANT_PERMISSIONS.filter((one) => permissions?.includes(one)),
  };

/** The roles of one person: with one merchant, and for the installation. */
export interface Roles {
  role: Role | null;
  installationRole: InstallationRole | null;
}

export function permissionsOf({ role, installationRole }: Roles): Permission[] {
  const ofInstallation =
    installationRole === 'operator' ? OF_OPERATORS : installationRole === 'auditor' ? OF_AUDITORS : [];
  return ALL_PERMISSIONS.filter(
    (permission) => ofInstallation.includes(permission) || role?.permissions.includes(permission),
  );
}

/** Which of some roles have each permission; those of the installation alone are none's. */
export const rolesWithPermissions = (roles: readonly Role[]): Record<string, string[]> =>
  Object.fromEntries(
    ALL_PERMISSIONS.map((permission) => [
      permission,
      roles.filter(({ permissions }) => permissions.includes(permission)).map(({ name }) => name),
    ]),
  );

/** Whether a role approves payouts and refunds. */
export const mayApprove = (role: Role | null | undefined): boolean =>
  role?.permissions.includes('approve') ?? false;

/** Whether a person with such roles needs a second factor before any of them counts. */
export const needsSecondFactor = (roles: Roles): boolean =>
  permissionsOf(roles).some((permission) => NEEDS_SECOND_FACTOR.includes(permission));

/** Whether an idle session of such roles ends early. */
export const movesMoney = (roles: Roles): boolean =>
  roles.installationRole === 'operator' ||
  permissionsOf(roles).some((permission) => MOVES_MONEY.includes(permission));

/**
 * Nobody gives or takes a role that may do what theirs may not: admins neither make, change nor remove an approver, as they
 * may not approve what they draw up themselves. Owners are for owners alone. An operator brings a merchant its first people;
 * once it has an owner, only its own people manage them.
 *
 * @param before the role that a person has, or what a role of the merchant's own permits; null: none
 */
export function mayAssign(
  by: Roles,
  { before, after, hasOwner }: { before: Role | null; after: Role | null; hasOwner: boolean },
): boolean {
  if (by.installationRole === 'operator' && !hasOwner) return true;
  if (by.role === null || !by.role.permissions.includes('manage_users')) return false;
  if (by.role.name === OWNER) return true;
  const concerned = [before, after].filter((role) => role !== null);
  const { permissions } = by.role;
  return concerned.every(
    (role) => role.name !== OWNER && role.permissions.every((one) => permissions.includes(one)),
  );
}

/** What a person may do who gives real money's keys a scope: nobody hands out what is not theirs. */
const GIVES: Readonly<Record<Scope, readonly Permission[]>> = {
  // Events and webhook deliveries, too. Of live mails a key reads to whom and of which kind they are, and no text.
  read: ['see', 'see_requests'],
  write: ['edit_checkout', 'accept_payments', 'edit_subscriptions', 'edit_keys'],
  payouts: ['create_payouts'],
  // What somebody refunds by hand may have a limit, which no key has: see `refunds.support_daily_limit`.
  refunds: ['refund', 'create_payouts'],
};

/** The scopes of live keys that a person may give, as they may do all that such a key does. */
export const givableScopes = (permissions: readonly string[]): Scope[] =>
  SCOPES.filter((scope) => GIVES[scope].every((needed) => permissions.includes(needed)));
