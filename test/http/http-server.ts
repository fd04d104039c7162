import { apiRoutes } from '../../packages/server/src/app.ts';
import { payoutErrors } from '../../packages/server/src/payouts/index.ts';
import type { BodyBudget } from '../../packages/server/src/platform/http/body.ts';
import type { ExchangeRecorder } from '../../packages/server/src/platform/http/exchanges/index.ts';
import { createHttpServer, type Route } from '../../packages/server/src/platform/http/index.ts';
import type { HttpOptions } from '../../packages/server/src/platform/http/server.ts';
import type { Logger } from '../../packages/server/src/platform/observability/log.ts';
import { createAuthentication } from '../../packages/server/src/stores/keys/index.ts';
import type { TestService } from '../service.ts';

/** A server on the service's database with options that a node in production does not have. */
export async function serveWith(
  service: TestService,
  options: {
    timeouts?: NonNullable<HttpOptions['timeouts']>;
    routes?: readonly Route[];
    bodyBudget?: BodyBudget;
    log?: Logger;
    recorder?: ExchangeRecorder;
  },
): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const { app } = service;
  let baseUrl = '';
  const server = createHttpServer({
    routes: options.routes ?? apiRoutes(app),
    pages: [],
    errorFormats: [payoutErrors],
    ...createAuthentication(app),
    clock: app.clock,
    log: options.log ?? app.log,
    versions: ['2026-04-20'],
    rate: { perSecond: 10_000, burst: 10_000 },
    publicUrl: () => baseUrl,
    checkAnswers: true,
    observer: app.metrics,
    ...(options.recorder === undefined ? {} : { recorder: options.recorder }),
    ...(options.bodyBudget === undefined ? {} : { bodyBudget: options.bodyBudget }),
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
  });
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl, close: async () => await server.close() };
}
