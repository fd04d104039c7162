import type { FastifyInstance } from 'fastify';
import { rawOf, whileHeld } from '../body.ts';
import type { EventStreams, OpenStream } from '../event-stream.ts';
import { inRequest } from '../in-request.ts';
import { prefersHtml } from '../media-type.ts';
import type { RawRequest } from '../pipeline.ts';

/** What a page gets of a request, which is not authenticated. */
export type PageRequest = Pick<
  RawRequest,
  'headers' | 'repeated' | 'body' | 'remoteAddress' | 'params' | 'url'
>;

export interface PageAnswer {
  status: number;
  type: string;
  /** A function opens an endless answer of server-sent events. */
  body: string | Buffer | OpenStream;
  headers?: Readonly<Record<string, string>>;
}

/** An unsigned call outside the API: health, metrics, documentation. */
export interface PublicPage {
  /** `GET`, which answers HEAD too, unless said otherwise. */
  method?: 'GET' | 'POST';
  /** With `{name}` for parameters. */
  path: string;
  /** Bytes of a body that it reads (1,024); a longer body, which is unsigned like all, is read as an empty one. */
  bodyBytesMax?: number;
  /** Only for callers that prefer HTML; to others there is nothing at this path. */
  forBrowsers?: boolean;
  /** @throws Fail answered with a page to browsers, else in the structured format */
  handle(request: PageRequest): Promise<PageAnswer>;
}

const PAGE_BODY_BYTES_MAX = 1_024;

/** Body limits of the pages, by path in the router's notation. */
export const bodyLimitsOf = (pages: readonly PublicPage[]): ReadonlyMap<string | undefined, number> =>
  new Map(pages.map(({ path, bodyBytesMax = PAGE_BODY_BYTES_MAX }) => [routerPath(path), bodyBytesMax]));

/** OpenAPI writes `{name}`, the router `:name`. */
export const routerPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

interface PageServer {
  streams: EventStreams;
  /** Refuses a request to an unknown path. */
  refuseUnknown: (raw: RawRequest) => Promise<never>;
}

export function addPage(
  app: FastifyInstance,
  { streams, refuseUnknown }: PageServer,
  page: PublicPage,
): void {
  app.route({
    method: page.method ?? ['GET', 'HEAD'],
    url: routerPath(page.path),
    handler: async (request, reply) => {
      const raw = rawOf(request);
      const isHidden = page.forBrowsers === true && !prefersHtml(raw.headers.accept);
      const answering = () =>
        inRequest(raw, page.path, () => (isHidden ? refuseUnknown(raw) : page.handle(raw)));
      const { status, type, body, headers = {} } = await whileHeld(request, answering);
      reply.code(status).headers(headers);
      // A stream has no end that a HEAD could wait for.
      if (typeof body !== 'function') return reply.type(type).send(body);
      return request.method === 'HEAD' ? reply.type(type).send('') : streams.send(reply, body);
    },
  });
}

const LOOPBACK_ADDRESS = /^(::ffff:)?127(\.\d{1,3}){3}$|^::1$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
/** Headers that a proxy adds: behind a proxy on this machine every caller has a loopback address. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether a program on this machine sent the request to a loopback name. The name is checked because a foreign web page
 * can make its own name resolve to 127.0.0.1: the browser then sends the request from here, but under that name.
 */
export function isLocal({ remoteAddress, headers, repeated }: PageRequest): boolean {
  return (
    LOOPBACK_ADDRESS.test(remoteAddress) &&
    !repeated.has('host') &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    PROXY_HEADERS.every((name) => headers[name] === undefined)
  );
}
