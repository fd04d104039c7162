import { withLogFields } from '../observability/log.ts';
import { traced } from '../observability/tracing.ts';
import type { RawRequest } from './pipeline.ts';

type Known = Pick<RawRequest, 'method' | 'requestId' | 'headers'>;

/** Runs the work of one request in a span, with the request's id on every line logged meanwhile. */
export async function inRequest<T>(request: Known, route: string, work: () => Promise<T>): Promise<T> {
  const { method, requestId, headers } = request;
  const attributes = { 'http.request.method': method, 'http.route': route, 'florin.request_id': requestId };
  return await withLogFields({ request_id: requestId }, () =>
    traced(`${method} ${route}`, { kind: 'request', attributes, headers }, work),
  );
}
