import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { codeOf, isUnavailable } from '../db.ts';
import { Fail } from '../fail.ts';
import { CommitUnknown } from '../transact.ts';
import { errorBody, errorHeaders, familyOf, statusOf } from './error-body.ts';
import { Pipeline, type PipelineOptions, type RawRequest } from './pipeline.ts';
import { newRequestId, readRequestId } from './request-id.ts';
import type { Route } from './route.ts';

const BODY_BYTES_MAX = 1_048_576;
const HEADERS_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_MS = 30_000;
const SWEEP_EVERY_MS = 60_000;
/** Methods whose body the signature covers; on others a body is refused. */
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

export interface PublicPage {
  path: string;
  handle(): Promise<{ status: number; type: string; body: string }>;
}

export interface HttpOptions extends PipelineOptions {
  routes: readonly Route[];
  /** Unsigned GETs: health, the OpenAPI document, documentation. */
  pages: readonly PublicPage[];
  /** Address that callers see; error answers link to its documentation. A function, as the port may be chosen late. */
  publicUrl: () => string;
  tls?: { certFile: string; keyFile: string };
}

/** Builds the server; `listen` is the caller's. */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 16_384, querystringParser: () => ({}) },
    // A path that cannot be decoded is a path that does not exist, and is told only to callers who are let in.
    rewriteUrl: (raw) => (isDecodable(raw.url ?? '/') ? (raw.url ?? '/') : '/undecodable'),
    genReqId: (raw) => readRequestId(raw.headers['x-request-id']) ?? newRequestId(),
    requestTimeout: HEADERS_TIMEOUT_MS + BODY_TIMEOUT_MS + 5_000,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options),
    ...(options.tls === undefined ? {} : { https: readTls(options.tls) }),
  }) as unknown as FastifyInstance;
  const pipeline = new Pipeline(options);
  acceptEveryBody(app);
  addStandardHeaders(app, options);
  for (const page of options.pages) addPage(app, page);
  for (const route of options.routes) addRoute(app, pipeline, route);
  addRefusals(app, pipeline, options.routes);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, options));
  const sweeping = setInterval(() => pipeline.sweep(), SWEEP_EVERY_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweeping));
  return app;
}

function readTls(tls: { certFile: string; keyFile: string }) {
  return { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile), minVersion: 'TLSv1.2' as const };
}

function isDecodable(url: string): boolean {
  try {
    decodeURI(url.split('?', 1)[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

/** Bodies are kept as the bytes that were signed; their type is judged after the signature. */
function acceptEveryBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const method of METHODS.filter((name) => name !== 'CONNECT' && !app.supportedMethods.includes(name))) {
    app.addHttpMethod(method, { hasBody: true });
  }
}

function addStandardHeaders(app: FastifyInstance, options: HttpOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    reply.header('x-service-version', options.versions[0]);
    reply.header('x-content-type-options', 'nosniff');
    // Fastify judges a malformed Content-Type before authentication; the pipeline reads it from the raw headers.
    if (request.raw.headers['content-type'] !== undefined) {
      request.raw.headers['content-type'] = 'application/octet-stream';
    }
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    const timer = setTimeout(() => {
      reply.header('connection', 'close');
      reply.send(new Fail('request_timeout', `The body did not arrive within ${BODY_TIMEOUT_MS / 1000} s.`));
    }, BODY_TIMEOUT_MS);
    timer.unref();
    payload.once('end', () => clearTimeout(timer));
    request.raw.once('close', () => clearTimeout(timer));
    return payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    options.log.info(
      {
        request_id: request.id,
        method: request.method,
        path: request.originalUrl.split('?', 1)[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });
}

function addPage(app: FastifyInstance, page: PublicPage): void {
  app.get(page.path, async (_request, reply) => {
    const { status, type, body } = await page.handle();
    return reply.code(status).type(type).send(body);
  });
}

/** OpenAPI writes `{name}`, the router `:name`. */
const routerPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

function addRoute(app: FastifyInstance, pipeline: Pipeline, route: Route): void {
  const prepared = pipeline.prepare(route);
  app.route({
    method: route.method,
    url: routerPath(route.path),
    handler: async (request, reply) => {
      const answer = await pipeline.run(rawOf(request), prepared);
      if (answer.replayed) reply.header('idempotent-replayed', 'true');
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body));
    },
  });
}

/** Known paths answer 405 to other methods, unknown paths 404, both after authentication. */
function addRefusals(app: FastifyInstance, pipeline: Pipeline, routes: readonly Route[]): void {
  const methodsOf = new Map<string, string[]>();
  for (const { path, method } of routes) {
    methodsOf.set(routerPath(path), [...(methodsOf.get(routerPath(path)) ?? []), method]);
  }
  for (const [url, allow] of methodsOf) {
    const others = METHODS.filter((method) => method !== 'CONNECT' && !allow.includes(method));
    const message = `This path takes ${allow.join(' and ')} only.`;
    app.route({
      method: others,
      url,
      handler: (request) =>
        pipeline.refuse(rawOf(request), new Fail('method_not_allowed', { message, allow })),
    });
  }
  app.setNotFoundHandler((request) =>
    pipeline.refuse(rawOf(request), new Fail('resource_not_found', 'There is nothing at this path.')),
  );
}

function rawOf(request: FastifyRequest): RawRequest {
  const headers: Record<string, string> = {};
  const repeated = new Set<string>();
  const lines = request.raw.rawHeaders;
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const name = (lines[i] ?? '').toLowerCase();
    if (Object.hasOwn(headers, name)) repeated.add(name);
    headers[name] = lines[i + 1] ?? '';
  }
  const announced = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return {
    method: request.method,
    url: request.originalUrl,
    headers,
    repeated,
    body: Buffer.isBuffer(request.body) && BODY_METHODS.has(request.method) ? request.body : Buffer.alloc(0),
    strayBody: announced && !BODY_METHODS.has(request.method),
    params: request.params as Record<string, string>,
    requestId: request.id,
    remoteAddress: request.ip,
  };
}

/** What the caller may know of an error; the rest goes to the log. */
function failOf(error: unknown): Fail {
  if (error instanceof Fail) return error;
  const code = codeOf(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Fail('body_too_large', `A body has at most ${BODY_BYTES_MAX} bytes.`);
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new Fail('invalid_request', 'The body is not as long as Content-Length says.');
  }
  if (error instanceof CommitUnknown || isUnavailable(error)) {
    return new Fail('service_unavailable', {
      message:
        'The service cannot answer right now. Read the state of the resource, then repeat the request.',
      retryAfterSeconds: 1,
    });
  }
  return new Fail(
    'internal_error',
    'Something went wrong on our side. Quote the request id when you ask about it.',
  );
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, options: HttpOptions) {
  const fail = failOf(error);
  const status = statusOf(fail);
  if (status >= 500) options.log.error({ request_id: request.id, err: error }, fail.message);
  const body = errorBody(fail, {
    family: familyOf(request.originalUrl),
    requestId: request.id,
    nowSeconds: options.clock.nowSeconds(),
    publicUrl: options.publicUrl(),
  });
  return reply
    .code(status)
    .headers(errorHeaders(fail))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** Bytes that are no HTTP request, or one that never ended: answered once, in the structured format, and closed. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, options: HttpOptions): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const fail = late
    ? new Fail('request_timeout', 'The request did not arrive in time.')
    : new Fail('invalid_request', 'This is not a valid HTTP/1.1 request.');
  const requestId = newRequestId();
  const body = JSON.stringify(
    errorBody(fail, {
      family: 'structured',
      requestId,
      nowSeconds: options.clock.nowSeconds(),
      publicUrl: options.publicUrl(),
    }),
  );
  const head = [
    late ? 'HTTP/1.1 408 Request Timeout' : 'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
