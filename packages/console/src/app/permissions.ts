/** Each permission of a role, in the order in which people read them: in a word or two, and what it lets somebody do. */
const PERMISSIONS: Readonly<Record<string, readonly [short: string, text: string]>> = {
  see: ['see', 'See payments, invoices, payouts, balances and reports'],
  see_requests: ['request log', 'See the request log, events and deliveries'],
  edit_checkout: ['checkout', 'Make payment links, checkout sessions, customers and portal links'],
  edit_subscriptions: ['subscriptions', 'Cancel and change subscriptions'],
  accept_payments: ['accept payments', 'Accept late or partial money'],
  refund: ['refund', 'Refund payments'],
  create_payouts: ['create payouts', 'Create, import and submit payouts'],
  approve: ['approve', 'Approve or reject payouts and refunds of others'],
  edit_keys: ['keys and webhooks', 'Make API keys and webhook endpoints, send webhooks again'],
  use_sandbox: ['sandbox', 'Use clock, chains, wallets and inboxes of a sandbox'],
  edit_stores: ['stores', 'Change settings and branding of stores, ask for a new store'],
  manage_users: ['people', 'Invite and remove people, give them roles'],
  read_audit_log: ['audit log', 'Read the audit log'],
};
const ORDER = Object.keys(PERMISSIONS);

/** What a permission lets somebody do; one that a newer service knows by its name. */
export const permissionText = (name: string): string => PERMISSIONS[name]?.[1] ?? name;

/** What a role permits, in one line. */
export const permissionsLine = (names: readonly string[]): string =>
  inOrder(names)
    .map((name) => PERMISSIONS[name]?.[0] ?? name)
    .join(', ');

/** In the order in which people read them; those that only a newer service knows come last. */
export const inOrder = (names: readonly string[]): string[] => [
  ...ORDER.filter((name) => names.includes(name)),
  ...names.filter((name) => !ORDER.includes(name)),
];
