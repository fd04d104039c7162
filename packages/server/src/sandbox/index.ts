export { FUND_JOB, fund, payFunding, type SandboxDeps } from './fund.ts';
export { type InboxOwner, inboxPages } from './inbox/pages.ts';
export { OUTAGE_END_JOB } from './outage-end.ts';
export { payerPages } from './payer-pages.ts';
export { sandboxRoutes } from './routes.ts';
export { type SandboxCredentials, seedSandbox } from './seed.ts';
export { walletPages } from './subscription-wallets.ts';
