export { sandboxHandlers } from './handlers.ts';
export type { InboxOwner } from './inbox/pages.ts';
export { sandboxPages } from './pages.ts';
export { sandboxRoutes } from './routes.ts';
export { type SandboxCredentials, seedSandbox } from './seed.ts';
