import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Fail } from '../fail.ts';
import type { Logger } from '../observability/log.ts';
import { type ErrorFormat, errorBody, formatOf, statusOf } from './error-body.ts';
import { type HttpObserver, UNMATCHED } from './observe.ts';
import { newRequestId } from './request-id.ts';

export interface BrokenRequestOptions {
  clock: { nowSeconds(): number };
  publicUrl: () => string;
  errorFormats: readonly ErrorFormat[];
  log: Pick<Logger, 'info'>;
  observer: Pick<HttpObserver, 'answered'>;
  /** Headers that every answer has. */
  standardHeaders: Readonly<Record<string, string>>;
}

type ParseError = Error & { code?: string; rawPacket?: unknown };

const REQUEST_LINE = /^[A-Z-]+ (\S+) HTTP\/1\.[01]\r?\n/;
/** The method of requests that could not be parsed. */
const NO_METHOD = 'other';
/** The request line is searched in the first bytes of a packet only. */
const REQUEST_LINE_BYTES_MAX = 16_384;

/** Unfinished answers of a connection, oldest first. */
const unanswered = new WeakMap<Socket, Set<ServerResponse>>();

/** Tracks the unanswered requests of each connection, as a broken one may be pipelined behind them. */
export function followRequests(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const open = unanswered.get(socket) ?? new Set<ServerResponse>();
    unanswered.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
  });
}

/**
 * Answers bytes that are no HTTP request, or one that never ended, once and closes the connection. Complete requests
 * before them get their answers first, so that no caller takes the refusal for its own answer.
 */
export function answerBrokenRequest(error: ParseError, socket: Socket, options: BrokenRequestOptions): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Bytes after broken ones must not be read as a request.
  socket.pause();
  const earlier = [...(unanswered.get(socket) ?? [])].filter((response) => response.req.complete).at(-1);
  if (earlier === undefined) refuse(error, socket, options);
  else earlier.once('close', () => refuse(error, socket, options));
}

function refuse(error: ParseError, socket: Socket, options: BrokenRequestOptions): void {
  if (!socket.writable) {
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
      format: formatOf(pathOf(error), options.errorFormats),
      requestId,
      nowSeconds: options.clock.nowSeconds(),
      publicUrl: options.publicUrl(),
    }),
  );
  const head = [
    late ? 'HTTP/1.1 408 Request Timeout' : 'HTTP/1.1 400 Bad Request',
    `x-request-id: ${requestId}`,
    ...Object.entries(options.standardHeaders).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  // No request exists, so no hook counts it. Its bytes may be anything, so neither log nor metrics quote them.
  options.observer.answered({ method: NO_METHOD, route: UNMATCHED, status: statusOf(fail.code), seconds: 0 });
  options.log.info(
    { request_id: requestId, route: UNMATCHED, status: statusOf(fail.code), reason: error.code },
    'request',
  );
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
}

/** The path that the broken request names, as far as it can be read: it decides the format of the answer. */
function pathOf(error: ParseError): string {
  if (!Buffer.isBuffer(error.rawPacket)) return '/';
  const begin = error.rawPacket.subarray(0, REQUEST_LINE_BYTES_MAX).toString('latin1');
  return REQUEST_LINE.exec(begin)?.[1] ?? '/';
}
