import { FAILURES } from '@florin/contract/failures';
import { StructuredError } from '@florin/contract/schemas';
import type { TSchema } from 'typebox';
import type { Fail, FailCode } from '../fail.ts';
import { redact } from '../secrets/redact.ts';
import { shorten } from '../secrets/shorten.ts';

/** How errors of some paths are written. Paths that no format matches have the structured one. */
export interface ErrorFormat {
  /** @param path percent-decoded, without scheme, host and query */
  matches(path: string): boolean;
  /** Schema of the body, for the OpenAPI document. */
  schema: TSchema;
  /** The code that the body carries, which is the name of its page of documentation. */
  codeOf(code: FailCode): string;
  body(error: PresentedError): object;
}

/** A failure as its caller may see it: texts are cut and free of secrets. */
export interface PresentedError {
  code: FailCode;
  status: number;
  message: string;
  param: string | undefined;
  declineCode: string | undefined;
  charge: string | undefined;
  requestId: string;
  nowSeconds: number;
  publicUrl: string;
  /** Where the request is shown to its sender; undefined: nowhere. */
  requestLogUrl?: string | undefined;
}

const structuredCode = (code: FailCode) => FAILURES[code].code ?? 'forbidden';

const STRUCTURED: ErrorFormat = {
  matches: () => true,
  schema: StructuredError,
  codeOf: structuredCode,
  body: (error) => {
    const { code: failCode, message, param, declineCode, charge, requestLogUrl } = error;
    const { type, code } = FAILURES[failCode];
    return {
      error: {
        type,
        ...(code === null ? {} : { code }),
        message,
        ...(param === undefined ? {} : { param }),
        ...(declineCode === undefined ? {} : { decline_code: declineCode }),
        ...(charge === undefined ? {} : { charge }),
        doc_url: `${error.publicUrl}/docs/errors/${structuredCode(failCode)}`,
        ...(requestLogUrl === undefined ? {} : { request_log_url: requestLogUrl }),
      },
      request_id: error.requestId,
      timestamp: error.nowSeconds,
    };
  },
};

/**
 * The format of a path's errors.
 *
 * @param url as received: percent-encoded, and with scheme and host where a proxy is spoken to
 */
export function formatOf(url: string, formats: readonly ErrorFormat[]): ErrorFormat {
  const path = pathOf(url);
  return formats.find((format) => format.matches(path)) ?? STRUCTURED;
}

/** Calls are for programs: their errors are JSON whatever the caller accepts. */
export const isCall = (url: string): boolean => /^\/+(?:console\/+)?api(\/|$)/i.test(pathOf(url));

/** Calls of servers, which are signed. */
export const isSignedCall = (url: string): boolean => /^\/+api(\/|$)/i.test(pathOf(url));

const pathOf = (url: string) => decoded(url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '');

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Longer than any message of ours with what it quotes. */
const MESSAGE_LENGTH_MAX = 1_000;

export interface ErrorContext {
  format: ErrorFormat;
  requestId: string;
  nowSeconds: number;
  publicUrl: string;
  requestLogUrl?: string | undefined;
}

/** A failure's message as callers may see it: a name that the caller made up is quoted, a key in its place is masked. */
export const messageOf = (fail: Fail): string => redact(shorten(fail.details.message, MESSAGE_LENGTH_MAX));

/** The body of an error answer in the format of its path. */
export function errorBody(fail: Fail, { format, ...context }: ErrorContext): object {
  const { param, declineCode, charge } = fail.details;
  return format.body({
    code: fail.code,
    status: statusOf(fail.code),
    message: messageOf(fail),
    param: param === undefined ? undefined : redact(shorten(param)),
    declineCode,
    charge,
    ...context,
  });
}

export function statusOf(code: FailCode): number {
  return FAILURES[code].status;
}

/** Headers that some failures carry. */
export function errorHeaders(fail: Fail): Record<string, string> {
  const { retryAfterSeconds, allow, param } = fail.details;
  return {
    // Payouts' errors name no parameter, and a page has to know that it can ask and go on.
    ...(fail.code === 'forbidden' && param === 'proof' ? { 'x-service-proof': 'required' } : {}),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    ...(fail.code === 'authentication_required' ? { 'www-authenticate': 'Bearer' } : {}),
  };
}
