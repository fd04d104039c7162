export { Condition } from './condition.ts';
export type { ErrorFormat } from './error-body.ts';
export { EVENT_STREAM, type OpenStream } from './event-stream.ts';
export { csvOf } from './export.ts';
export { JsonRefused, parseStrictJson } from './json.ts';
export { defineList } from './list.ts';
export { type CodeSample, type OperationExample, openApiDocument } from './openapi.ts';
export type { Authenticated, Authentication, RawRequest, RequestHead } from './pipeline.ts';
export { checkPlainText } from './plain-text.ts';
export { TokenBuckets } from './rate-limit.ts';
export {
  type Answer,
  type Caller,
  defineRoute,
  type Route,
  type RouteRequest,
  type Slice,
  type SliceRequest,
} from './route.ts';
export { createHttpServer } from './server.ts';
export { compileShape } from './validate.ts';
