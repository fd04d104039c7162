/** The pages of a store, in the order of the menu. */
export const SECTIONS = [
  { folder: 'payments', title: 'Payments', needs: 'see' },
  { folder: 'refunds', title: 'Refunds', needs: 'see' },
  { folder: 'payouts', title: 'Payouts', needs: 'see' },
] as const;
