import { readFileSync } from 'node:fs';
import { METHODS, type Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import type { Logger } from '../observability/log.ts';
import { shorten } from '../secrets/shorten.ts';
import { BODY_BYTES_MAX, BodyBudget, rawOf, readBodies, whileHeld } from './body.ts';
import { answerBrokenRequest, followRequests } from './broken-request.ts';
import { EVENT_STREAM, EventStreams, type OpenStream } from './event-stream.ts';
import { type ExchangeRecorder, Exchanges } from './exchanges/exchanges.ts';
import { inRequest } from './in-request.ts';
import { type HttpObserver, observeAnswers, routeOf, UNMATCHED } from './observe.ts';
import { addPage, bodyLimitsOf, type PublicPage, routerPath } from './pages/page.ts';
import { type Authentication, Pipeline, type PipelineOptions, type RawRequest } from './pipeline.ts';
import { announcesBody, BODYLESS_METHODS, decodable } from './raw-request.ts';
import { newRequestId, readRequestId } from './request-id.ts';
import type { Route } from './route.ts';
import { type ErrorOptions, sendError, wantsPage } from './send-error.ts';
import { followUnasked } from './unasked-connections.ts';

const TIMEOUTS: HttpTimeouts = { headersMs: 10_000, bodyMs: 30_000, unreadMs: 30_000 };
const TIMEOUT_CHECK_MS_MAX = 1_000;
const SWEEP_EVERY_MS = 60_000;
/** What was asked as the server began to close has arrived by then. */
const QUESTION_MS = 1_000;
/** Who opens a connection and never says how it is to be secured keeps a stop waiting no longer. */
const HANDSHAKE_MS = 3_000;
const CONSOLE_PATH = '/console/api/';
/** Nothing there is longer than a form, unless its route says so. */
const CONSOLE_BODY_BYTES_MAX = 16_384;
/** With forward secrecy and authenticated encryption: CBC suites of TLS 1.2 have neither to offer. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  ...['ECDHE-ECDSA', 'ECDHE-RSA'].flatMap((exchange) =>
    ['AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-GCM-SHA256'].map((cipher) => `${exchange}-${cipher}`),
  ),
].join(':');
/** A year, as for a service that is never served without TLS: of this host alone. */
const STRICT_TRANSPORT = 'max-age=31536000';

export interface HttpTimeouts {
  /** How long the headers of a request may take to arrive before it is answered 408. */
  headersMs: number;
  /** From the end of the headers on. */
  bodyMs: number;
  /** How long a caller may leave a stream unread before the connection is cut. */
  unreadMs: number;
}

export interface HttpOptions extends PipelineOptions, ErrorOptions {
  routes: readonly Route[];
  /** Routes for people who are signed in, with checks of their own. */
  console?: Authentication & { routes: readonly Route[] };
  /** Unsigned: health, the OpenAPI document, documentation. */
  pages: readonly PublicPage[];
  tls?: { certFile: string; keyFile: string };
  /** One proxy stands in front: callers' addresses are the last ones in its X-Forwarded-For. */
  trustedProxy?: boolean;
  timeouts?: Partial<HttpTimeouts>;
  /** 256 MiB of bodies by default. */
  bodyBudget?: BodyBudget;
  observer: HttpObserver;
  /** Receives each request to a signed route, with its answer. */
  recorder?: ExchangeRecorder | undefined;
}

/** Builds the server; `listen` is the caller's. */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const standardHeaders = standardHeadersOf(options);
  const app = Fastify({
    // A request that arrives during the shutdown is answered normally; Fastify's own 503 would lack our error body.
    return503OnClosing: false,
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    // Routes check their input themselves (`validate.ts`): Fastify need not load its own compilers of schemas.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    exposeHeadRoutes: false,
    trustProxy: options.trustedProxy ? (_address: string, hop: number) => hop === 0 : false,
    routerOptions: { maxParamLength: 16_384, querystringParser: () => ({}) },
    rewriteUrl: (raw) => decodable(raw.url ?? '/'),
    genReqId: (raw) => readRequestId(raw.headers['x-request-id']) ?? newRequestId(),
    requestTimeout: timeouts.headersMs + timeouts.bodyMs + 5_000,
    http: {
      // Less than one chunk of a body, so that a connection that is not read yet holds one chunk and not two.
      highWaterMark: 16_384,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS_MAX, timeouts.headersMs / 2),
      // Node would refuse with an empty body; `rawOf` refuses with an error.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) =>
      answerBrokenRequest(error, socket, { ...options, standardHeaders }),
    ...(options.tls === undefined ? {} : { https: readTls(options.tls) }),
  }) as unknown as FastifyInstance;
  const pipeline = new Pipeline(options);
  followRequests(app.server);
  const endUnasked = followUnasked(app.server);
  answerExpectations(app.server);
  acceptEveryMethod(app);
  keepSignedBodies(app, options);
  addStandardHeaders(app, standardHeaders);
  limitUploadTime(app, timeouts.bodyMs);
  logRequests(app, options.log);
  observeAnswers(app, options.observer);
  const streams = new EventStreams(timeouts.unreadMs);
  const exchanges = new Exchanges(options.recorder, () => options.clock.nowMs(), options.log);
  exchanges.observe(app);
  const refuseUnknown = (raw: RawRequest) => pipeline.refuse(raw, nothingHere());
  for (const page of options.pages) addPage(app, { streams, refuseUnknown }, page);
  app.addHook('preClose', async () => {
    streams.close();
    // A question may be on its way: it is answered, and its connection closed.
    setTimeout(endUnasked, QUESTION_MS).unref();
  });
  const parts = { pipeline, streams, exchanges };
  for (const route of options.routes) addRoute(app, parts, route);
  if (options.console !== undefined) addConsole(app, streams, options, options.console);
  addRefusals(app, parts, options.routes);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, { ...options, exchanges }));
  const sweeping = setInterval(() => pipeline.sweep(), SWEEP_EVERY_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweeping));
  return app;
}

function refuseSchemas(): never {
  throw new Error('a route hands its schema to the pipeline, not to Fastify');
}

function readTls(tls: { certFile: string; keyFile: string }) {
  return {
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    minVersion: 'TLSv1.2' as const,
    ciphers: CIPHERS,
    handshakeTimeout: HANDSHAKE_MS,
  };
}

/** Sends `100 Continue` unless the body is too large. Other expectations are ignored, as HTTP allows. */
function answerExpectations(server: Server): void {
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= BODY_BYTES_MAX) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** A page declares how much it reads; forms of the console are short; all other bodies are kept for known keys only. */
function keepSignedBodies(app: FastifyInstance, options: HttpOptions): void {
  const ofPages = bodyLimitsOf(options.pages);
  const ofConsole = new Map(
    options.console?.routes.map(({ path, bodyBytesMax }) => [routerPath(path), bodyBytesMax]),
  );
  readBodies(app, options.bodyBudget ?? new BodyBudget(), ({ routeOptions: { url = '' } }) => {
    if (!url.startsWith(CONSOLE_PATH))
      return async (head) => ({
        kept: ofPages.get(url) ?? ((await options.knowsKey(head)) ? BODY_BYTES_MAX : 0),
        max: BODY_BYTES_MAX,
      });
    const max = ofConsole.get(url) ?? CONSOLE_BODY_BYTES_MAX;
    if (max === CONSOLE_BODY_BYTES_MAX) return async () => ({ kept: max, max });
    return async (head) => ({ kept: (await options.console?.knowsKey(head)) ? max : 0, max });
  });
}

function acceptEveryMethod(app: FastifyInstance): void {
  for (const method of METHODS.filter((name) => name !== 'CONNECT' && !app.supportedMethods.includes(name))) {
    app.addHttpMethod(method, { hasBody: true });
  }
}

const standardHeadersOf = (options: HttpOptions) => ({
  'cache-control': 'no-store',
  'x-service-version': options.versions[0] ?? '',
  'x-content-type-options': 'nosniff',
  ...(options.tls !== undefined || options.trustedProxy === true
    ? { 'strict-transport-security': STRICT_TRANSPORT }
    : {}),
});

function addStandardHeaders(app: FastifyInstance, headers: Record<string, string>): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.headers(headers);
    // The connection is closed after the answer, as the rest of such a body is not read.
    if (BODYLESS_METHODS.has(request.method) && announcesBody(request.raw.headers)) {
      reply.header('connection', 'close');
    }
    // Fastify judges a missing or malformed Content-Type before authentication; the pipeline reads the raw headers.
    if (request.raw.headers['content-type'] !== undefined || request.method === 'QUERY') {
      request.raw.headers['content-type'] = 'application/octet-stream';
    }
  });
}

function limitUploadTime(app: FastifyInstance, bodyMs: number): void {
  app.addHook('preParsing', async (request, reply, payload) => {
    if (request.raw.complete || !announcesBody(request.raw.headers)) return payload;
    const timer = setTimeout(() => {
      if (reply.sent) return;
      reply.header('connection', 'close');
      reply.send(new Fail('request_timeout', `The body did not arrive within ${bodyMs / 1000} s.`));
    }, bodyMs);
    timer.unref();
    payload.once('end', () => clearTimeout(timer));
    request.raw.once('close', () => clearTimeout(timer));
    return payload;
  });
}

/**
 * An unknown path may contain anything, even a misplaced secret, and the parameter of a page's path opens the page.
 */
const hidesPath = (request: FastifyRequest) =>
  request.is404 ||
  request.routeOptions.url?.endsWith('*') ||
  (routeOf(request).includes('{') && !request.originalUrl.startsWith('/api/'));

function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', async (request, reply) => {
    log.info(
      {
        request_id: request.id,
        method: request.method,
        route: routeOf(request),
        ...(hidesPath(request) ? {} : { path: shorten(request.originalUrl.split('?', 1)[0] ?? '') }),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });
}

const nothingHere = () => new Fail('resource_not_found', 'There is nothing at this path.');

/** The router reads the empty text after the last slash of `/events/` as an id. */
const lacksId = (raw: RawRequest) => Object.values(raw.params).includes('');

interface Parts {
  pipeline: Pipeline;
  streams: EventStreams;
  exchanges: Exchanges;
}

/** Runs the work of a signed request, which reads its body. */
async function answerSigned<T>(
  connection: { request: FastifyRequest; reply: FastifyReply },
  { exchanges }: Parts,
  route: string,
  work: (raw: RawRequest) => Promise<T>,
): Promise<T> {
  const { request } = connection;
  const raw = rawOf(request);
  const recorded = () => exchanges.during(connection, raw, () => work(raw));
  return await whileHeld(request, () => inRequest(raw, route, recorded));
}

function addRoute(app: FastifyInstance, parts: Parts, route: Route): void {
  const { pipeline, streams, exchanges } = parts;
  const prepared = pipeline.prepare(route);
  app.route({
    method: route.method,
    url: routerPath(route.path),
    handler: async (request, reply) => {
      const answer = await answerSigned({ request, reply }, parts, route.path, (raw) =>
        lacksId(raw) ? pipeline.refuse(raw, nothingHere()) : pipeline.run(raw, prepared),
      );
      if ('csv' in answer) return streams.send(reply, answer.csv.open, answer.csv.headers);
      if (route.answer === EVENT_STREAM) return streams.send(reply, answer.body as OpenStream);
      if (answer.replayed) reply.header('idempotent-replayed', 'true');
      reply.headers(answer.headers ?? {});
      const text = JSON.stringify(answer.body);
      exchanges.noteAnswer(request, text);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  });
}

/** Their requests are not in the log of requests, which is of API keys. */
function addConsole(
  app: FastifyInstance,
  streams: EventStreams,
  options: HttpOptions,
  { routes, ...own }: Required<HttpOptions>['console'],
): void {
  const pipeline = new Pipeline({ ...options, ...own });
  const exchanges = new Exchanges(undefined, () => options.clock.nowMs(), options.log);
  const parts = { pipeline, streams, exchanges };
  for (const route of routes) addRoute(app, parts, route);
  refuseOtherMethods(app, parts, routes);
  const sweeping = setInterval(() => pipeline.sweep(), SWEEP_EVERY_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweeping));
}

/** Known paths answer 405 to other methods, unknown paths 404, both after authentication. */
function addRefusals(app: FastifyInstance, parts: Parts, routes: readonly Route[]): void {
  const { pipeline } = parts;
  refuseOtherMethods(app, parts, routes);
  app.setNotFoundHandler(async (request, reply) => {
    // Whoever opens an address in a browser is told that it is wrong; a program has to say first who it is.
    if (wantsPage(request)) throw nothingHere();
    return await answerSigned({ request, reply }, parts, UNMATCHED, (raw) =>
      pipeline.refuse(raw, nothingHere()),
    );
  });
}

function refuseOtherMethods(app: FastifyInstance, parts: Parts, routes: readonly Route[]): void {
  const { pipeline } = parts;
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
      handler: async (request, reply) =>
        await answerSigned({ request, reply }, parts, routeOf(request), (raw) => {
          const fail = lacksId(raw) ? nothingHere() : new Fail('method_not_allowed', { message, allow });
          return pipeline.refuse(raw, fail);
        }),
    });
  }
}
