export { type Family, familyOf, PAYOUT_PATH, WORDS } from './error-body.ts';
export { openApiDocument } from './openapi.ts';
export type { Authenticate, Authenticated, RawRequest } from './pipeline.ts';
export { type Answer, type Caller, defineRoute, type Route, SCOPES, type Scope } from './route.ts';
export { createHttpServer, type HttpOptions, type PublicPage } from './server.ts';
