/** What an API key may do. */
export const SCOPES = ['read', 'write', 'payouts', 'refunds'] as const;
export type Scope = (typeof SCOPES)[number];
