import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';

/** Counts the answers of the server. */
export interface HttpObserver {
  answered(sample: { method: string; route: string; status: number; seconds: number }): void;
  /** A request was answered 401; the caller does not learn the reason. */
  refused(reason: string): void;
}

/** All documentation pages count as one: there is one for each error code. */
const DOCS = '/docs';
export const UNMATCHED = 'unmatched';

/** Reports every answer to the observer, by the template of its route. */
export function observeAnswers(app: FastifyInstance, observer: HttpObserver): void {
  app.addHook('onResponse', async (request, reply) => {
    observer.answered({
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
  });
  app.addHook('onError', async (_request, _reply, error: unknown) => {
    if (!(error instanceof Fail) || error.code !== 'authentication_required') return;
    observer.refused(typeof error.details.cause === 'string' ? error.details.cause : 'other');
  });
}

/** The template of a request's route in OpenAPI's notation; `unmatched` for all unknown paths. */
export function routeOf(request: FastifyRequest): string {
  const { url } = request.routeOptions;
  if (url === undefined || request.is404) return UNMATCHED;
  return url.startsWith(DOCS) ? DOCS : url.replaceAll(/:(\w+)/g, '{$1}');
}
