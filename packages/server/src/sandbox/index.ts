export { sandboxHandlers } from './handlers.ts';
export { type InboxOwner, inboxPages } from './inbox/pages.ts';
export { payerPages } from './payer-pages.ts';
export { sandboxRoutes } from './routes.ts';
export { type SandboxCredentials, seedSandbox } from './seed.ts';
export { walletPages } from './subscription-wallets.ts';
