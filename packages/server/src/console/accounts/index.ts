export { sweepAccounts } from './clear.ts';
export * as factors from './factors.ts';
export * as links from './links.ts';
export * as passkeys from './passkeys.ts';
export { type Acting, endAllSessions, endSession, findSession, listSessions } from './sessions.ts';
export * as signIns from './sign-in.ts';
export type { SessionRow } from './tables.ts';
export type { ConsoleDeps } from './users.ts';
export * as users from './users.ts';
