import { apiRoutes } from '../../packages/server/src/app.ts';
import {
  createHttpServer,
  type HttpOptions,
  type Route,
} from '../../packages/server/src/platform/http/index.ts';
import { createAuthenticate } from '../../packages/server/src/stores/index.ts';
import type { TestService } from '../service.ts';

/** A server on the service's database with options that a node in production does not have. */
export async function serveWith(
  service: TestService,
  options: { timeouts?: NonNullable<HttpOptions['timeouts']>; routes?: readonly Route[] },
): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const { app } = service;
  let baseUrl = '';
  const server = createHttpServer({
    routes: options.routes ?? apiRoutes(app),
    pages: [],
    authenticate: createAuthenticate(app),
    clock: app.clock,
    log: app.log,
    versions: ['2026-04-20'],
    rate: { perSecond: 10_000, burst: 10_000 },
    publicUrl: () => baseUrl,
    checkAnswers: true,
    observer: app.metrics,
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
  });
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl, close: async () => await server.close() };
}
