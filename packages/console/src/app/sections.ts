/** The pages of a store, in the order of the menu. */
export const SECTIONS = [
  { folder: 'payments', title: 'Payments', needs: 'see' },
  { folder: 'refunds', title: 'Refunds', needs: 'see' },
  { folder: 'payouts', title: 'Payouts', needs: 'see' },
  { folder: 'customers', title: 'Customers', needs: 'see' },
  { folder: 'subscriptions', title: 'Subscriptions', needs: 'see' },
  { folder: 'invoices', title: 'Invoices', needs: 'see' },
  { folder: 'webhooks', title: 'Webhooks', needs: 'see_requests' },
  { folder: 'deliveries', title: 'Deliveries', needs: 'see_requests' },
  { folder: 'team', title: 'Team', needs: 'manage_users' },
  { folder: 'audit', title: 'Audit log', needs: 'read_audit_log' },
] as const;
