import type { FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import type { RequestHead } from './pipeline.ts';

/** Methods whose body the signature covers; on others a body is refused. */
export const SIGNED_BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** Methods whose body nobody reads: it may have no end, so no answer waits for it. */
export const BODYLESS_METHODS = new Set(['GET', 'HEAD', 'TRACE']);

/** A path that cannot be decoded names nothing, like any unknown one: its percent signs stand for themselves. */
export function decodable(url: string): string {
  const [path = '', ...query] = url.split('?');
  try {
    decodeURI(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

export function announcesBody(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The parser lets 0.9 and 2.0 through, which nobody speaks on this connection. */
const VERSIONS = new Set(['1.0', '1.1']);

/** @throws Fail for a request that does not name one host: two proxies on its way may have read it differently */
export function headOf(request: FastifyRequest): RequestHead {
  const headers: Record<string, string> = {};
  const repeated = new Set<string>();
  const lines = request.raw.rawHeaders;
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const name = (lines[i] ?? '').toLowerCase();
    if (Object.hasOwn(headers, name)) repeated.add(name);
    headers[name] = lines[i + 1] ?? '';
  }
  if (!VERSIONS.has(request.raw.httpVersion)) {
    throw new Fail('invalid_request', 'This is not a valid HTTP/1.1 request.');
  }
  if (repeated.has('host') || (headers.host === undefined && request.raw.httpVersion !== '1.0')) {
    throw new Fail('invalid_request', 'A request names its host exactly once.');
  }
  return {
    method: request.method,
    url: request.originalUrl,
    headers,
    repeated,
    strayBody: announcesBody(headers) && !SIGNED_BODY_METHODS.has(request.method),
    params: request.params as Record<string, string>,
    requestId: request.id,
    remoteAddress: request.ip,
  };
}
