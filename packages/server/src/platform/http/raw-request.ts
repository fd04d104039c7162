import type { FastifyRequest } from 'fastify';
import { Fail } from '../fail.ts';
import type { RequestHead } from './pipeline.ts';

/** Methods whose body the signature covers; on others a body is refused. */
export const SIGNED_BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** Methods whose body is not read: it may have no end, so no answer waits for it. */
export const BODYLESS_METHODS = new Set(['GET', 'HEAD', 'TRACE']);

/** Escapes the percent signs of a path that cannot be decoded, so that it is answered like any unknown path. */
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

/** Node's parser also accepts 0.9 and 2.0, which are not served on this connection. */
const VERSIONS = new Set(['1.0', '1.1']);

/** A socket forgets its address when the connection is reset, which Fastify's type does not say. */
const addressOf = ({ ip }: { ip: string | undefined }) => ip ?? '';

/** @throws Fail without exactly one Host header, as two proxies on the way may have read the request differently */
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
    throw new Fail('invalid_request', 'A request must have exactly one Host header.');
  }
  return {
    method: request.method,
    url: request.originalUrl,
    headers,
    repeated,
    strayBody: announcesBody(headers) && !SIGNED_BODY_METHODS.has(request.method),
    params: request.params as Record<string, string>,
    requestId: request.id,
    remoteAddress: addressOf(request),
  };
}
