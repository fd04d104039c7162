export * as factors from './factors.ts';
export { makeSignInLink, redeemLink } from './links.ts';
export { endAllSessions, endSession, findSession, listSessions, rotateSession } from './sessions.ts';
export * as signIns from './sign-in.ts';
export * as users from './users.ts';
export { type ConsoleDeps, membershipsOf, rolesOf } from './users.ts';
