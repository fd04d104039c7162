import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../db/clock.ts';
import { isUnavailable } from '../db/db.ts';
import { CommitUnknown } from '../db/transact.ts';
import { Fail, type FailCode } from '../fail.ts';
import type { Logger } from '../observability/log.ts';
import {
  type ErrorFormat,
  errorBody,
  errorHeaders,
  formatOf,
  isCall,
  isSignedCall,
  messageOf,
  statusOf,
} from './error-body.ts';
import type { Exchanges } from './exchanges/exchanges.ts';
import { prefersHtml } from './media-type.ts';
import type { PageAnswer } from './pages/page.ts';
import type { RawRequest } from './pipeline.ts';

/** An error that a browser is shown. */
export interface PageError extends Pick<RawRequest, 'url' | 'headers' | 'requestId'> {
  code: FailCode;
  status: number;
  message: string;
}

export interface ErrorOptions {
  clock: Clock;
  log: Logger;
  /** Formats of errors, each for some paths; the first that matches counts, and the structured one where none does. */
  errorFormats: readonly ErrorFormat[];
  /** The page of an error, for browsers; without, they get JSON too. */
  errorPage?: (error: PageError) => Promise<PageAnswer>;
  /** Address that callers see; error answers link to its documentation. A function, as the port may be chosen late. */
  publicUrl: () => string;
  /** Where a recorded request is shown; error answers to it link there. */
  requestPage?: ((requestId: string) => string) | undefined;
}

/** The failure that the caller sees; details of unexpected errors go to the log only. */
function failOf(error: unknown): Fail {
  if (error instanceof Fail) return error;
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

/** Browsers get pages outside of the API. */
export const wantsPage = ({ headers, originalUrl }: FastifyRequest) =>
  prefersHtml(headers.accept) && !isCall(originalUrl);

/**
 * Where the request is shown to whoever looks after its key. A key that does not exist has the link too, as the answer must
 * not tell which do.
 */
const requestLogUrlOf = ({ id, headers, originalUrl }: FastifyRequest, { requestPage }: ErrorOptions) =>
  headers.authorization !== undefined && isSignedCall(originalUrl) ? requestPage?.(id) : undefined;

export async function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorOptions & { exchanges: Pick<Exchanges, 'noteFailure'> },
): Promise<FastifyReply> {
  const fail = failOf(error);
  const status = statusOf(fail.code);
  // The rest of the body is not read.
  if (fail.code === 'body_too_large') reply.header('connection', 'close');
  if (status >= 500) options.log.error({ request_id: request.id, err: error }, fail.message);
  reply.code(status).headers(errorHeaders(fail));
  if (options.errorPage !== undefined && wantsPage(request)) {
    try {
      const {
        body,
        type,
        headers = {},
      } = await options.errorPage({
        code: fail.code,
        status,
        message: messageOf(fail),
        requestId: request.id,
        url: request.originalUrl,
        headers: { 'accept-language': request.headers['accept-language'] },
      });
      return await reply.headers(headers).type(type).send(body);
    } catch (cause) {
      options.log.error({ request_id: request.id, err: cause }, 'the page of an error cannot be shown');
    }
  }
  const format = formatOf(request.originalUrl, options.errorFormats);
  const body = errorBody(fail, {
    format,
    requestId: request.id,
    nowSeconds: options.clock.nowSeconds(),
    publicUrl: options.publicUrl(),
    requestLogUrl: requestLogUrlOf(request, options),
  });
  const answer = JSON.stringify(body);
  options.exchanges.noteFailure(request, fail, { code: format.codeOf(fail.code), answer });
  return await reply.type('application/json; charset=utf-8').send(answer);
}
