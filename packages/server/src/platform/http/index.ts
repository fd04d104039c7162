export { type Family, familyOf, PAYOUT_PATH, WORDS } from './error-body.ts';
export { openApiDocument } from './openapi.ts';
export { isLocal, type PageAnswer, type PageRequest, type PublicPage } from './page.ts';
export type { Authenticate, Authenticated, RawRequest } from './pipeline.ts';
export { type PluginFile, readPluginFile, uncompressed } from './plugin-file.ts';
export { TokenBuckets } from './rate-limit.ts';
export { type Answer, type Caller, defineRoute, type Route, SCOPES, type Scope } from './route.ts';
export { createHttpServer, type HttpOptions } from './server.ts';
export { compileShape } from './validate.ts';
