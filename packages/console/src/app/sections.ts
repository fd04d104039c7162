import type { Membership } from './me.ts';

export interface SectionLink {
  folder: string;
  title: string;
  group?: string;
}

/** The pages of a store, in the order of the menu; the first of a group names it. */
export const SECTIONS = [
  { folder: 'home', title: 'Home', needs: 'see' },
  { folder: 'search', title: 'Search', needs: 'see' },
  { folder: 'payments', title: 'Payments', needs: 'see' },
  { folder: 'refunds', title: 'Refunds', needs: 'see' },
  { folder: 'payouts', title: 'Payouts', needs: 'see' },
  { folder: 'approvals', title: 'Approvals', needs: 'approve' },
  { folder: 'payment-links', title: 'Payment links', needs: 'see' },
  { folder: 'customers', title: 'Customers', needs: 'see' },
  { folder: 'payment-methods', title: 'Payment methods', needs: 'see' },
  { folder: 'subscriptions', title: 'Subscriptions', needs: 'see' },
  { folder: 'invoices', title: 'Invoices', needs: 'see' },
  { folder: 'balances', title: 'Balances', needs: 'see' },
  { folder: 'ledger', title: 'Ledger', needs: 'see' },
  { folder: 'mails', title: 'Mails', needs: 'refund' },
  { folder: 'keys', title: 'API keys', needs: 'edit_keys', group: 'Developers' },
  { folder: 'requests', title: 'Request log', needs: 'see_requests', group: 'Developers' },
  { folder: 'events', title: 'Events', needs: 'see_requests', group: 'Developers' },
  { folder: 'webhooks', title: 'Webhooks', needs: 'see_requests', group: 'Developers' },
  { folder: 'deliveries', title: 'Deliveries', needs: 'see_requests', group: 'Developers' },
  { folder: 'clock', title: 'Clock', needs: 'use_sandbox', group: 'Sandbox', isOfSandbox: true },
  { folder: 'chains', title: 'Chains', needs: 'use_sandbox', group: 'Sandbox', isOfSandbox: true },
  { folder: 'wallets', title: 'Wallets', needs: 'use_sandbox', group: 'Sandbox', isOfSandbox: true },
  { folder: 'inbox', title: 'Webhook inbox', needs: 'see_requests', group: 'Sandbox', isOfSandbox: true },
  { folder: 'stores', title: 'Stores', needs: 'see', group: 'Merchant' },
  { folder: 'settings', title: 'Store settings', needs: 'edit_stores', group: 'Merchant' },
  { folder: 'branding', title: 'Branding', needs: 'edit_stores', group: 'Merchant' },
  { folder: 'team', title: 'Team', needs: 'manage_users', group: 'Merchant' },
  { folder: 'roles', title: 'Roles', needs: 'manage_users', group: 'Merchant' },
  { folder: 'audit', title: 'Audit log', needs: 'read_audit_log', group: 'Merchant' },
] satisfies (SectionLink & { needs: string; isOfSandbox?: true })[];

/** The pages of the installation, for its operator and auditors. */
export const OPERATOR_SECTIONS: readonly SectionLink[] = [
  { folder: 'health', title: 'Health', group: 'Installation' },
  { folder: 'networks', title: 'Networks', group: 'Installation' },
  { folder: 'treasury', title: 'Treasury', group: 'Installation' },
  { folder: 'stores', title: 'Stores', group: 'Installation' },
  { folder: 'merchants', title: 'Merchants', group: 'Installation' },
  { folder: 'risk', title: 'Risk list', group: 'Installation' },
  { folder: 'seizures', title: 'Seized money', group: 'Installation' },
  { folder: 'jobs', title: 'Failing jobs', group: 'Installation' },
  { folder: 'settings', title: 'Settings', group: 'Installation' },
  { folder: 'audit', title: 'Audit log', group: 'Installation' },
];

/** The pages of a store that somebody with these permissions has. */
export const sectionsFor = ({ mode, permissions }: Pick<Membership, 'mode' | 'permissions'>): SectionLink[] =>
  SECTIONS.filter(
    ({ needs, ...section }) =>
      permissions.includes(needs) && (mode === 'sandbox' || !('isOfSandbox' in section)),
  );
