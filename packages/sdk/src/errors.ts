import type { PayoutErrorCode, StructuredCode } from '@florin/contract/errors';

/** Codes of the service in both formats, and four of the SDK's own for what carries none. */
export type KnownCode =
  | StructuredCode
  | PayoutErrorCode
  | 'connection_failed'
  | 'timed_out'
  | 'unexpected_answer'
  | 'permission_denied';

/** A newer service may send codes that this version does not know yet. */
export type ErrorCode = KnownCode | (string & Record<never, never>);

export interface ErrorFacts {
  readonly message: string;
  readonly code: ErrorCode;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly param?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestLogUrl?: string | undefined;
  readonly declineCode?: string | undefined;
  readonly charge?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The base class of all errors of a call. Narrow by class for the kind, by `code` for the exact error. */
export class FlorinError extends Error {
  readonly code: ErrorCode;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Equals the X-Request-ID header: quote it to whoever runs the service. */
  readonly requestId: string | undefined;
  /** Path of the field at fault, such as `items[0].amount` (structured format only). */
  readonly param: string | undefined;
  readonly docUrl: string | undefined;
  /** The page of this request in the console, for whoever looks after the key (structured format only). */
  readonly requestLogUrl: string | undefined;
  /** Why a payment method could not be charged, and the payment that records it. */
  readonly declineCode: string | undefined;
  readonly charge: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(facts: ErrorFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.name = new.target.name;
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.param = facts.param;
    this.docUrl = facts.docUrl;
    this.requestLogUrl = facts.requestLogUrl;
    this.declineCode = facts.declineCode;
    this.charge = facts.charge;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** 400, 405, 408, 413, 415: the request itself is wrong, or does not fit the state of the resource. */
export class InvalidRequestError extends FlorinError {}
/** 401: key, signature, timestamp or nonce. */
export class AuthenticationError extends FlorinError {}
/** 403: the key may not do this. */
export class PermissionError extends FlorinError {}
/** 404: no such resource for this merchant. */
export class NotFoundError extends FlorinError {}
/** 409: an idempotency key used with other parameters. */
export class ConflictError extends FlorinError {}
/** 429: too many requests, or a quota is used up. */
export class RateLimitError extends FlorinError {}
/** 502, 503, 504: temporarily unavailable; a write may have happened. */
export class ServiceUnavailableError extends FlorinError {}
/** Any other 5xx, and responses that are not from this API; a write may have happened. */
export class ServerError extends FlorinError {}
/** No answer within `timeoutMs`: a write may have happened. */
export class TimeoutError extends FlorinError {}

/** The connection was refused, reset or closed before the answer was complete. */
export class ConnectionError extends FlorinError {
  /** True when the request never left, so that nothing can have happened. */
  readonly neverSent: boolean;

  constructor(facts: ErrorFacts & { readonly neverSent: boolean }, options?: ErrorOptions) {
    super(facts, options);
    this.neverSent = facts.neverSent;
  }
}

/** What came back over HTTP, body as text. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * The typed error of an answer that is not 2xx. The shape of the body tells its format. Bodies of payouts have no `doc_url`, so it
 * is made from `baseUrl`: every instance has the page of each code.
 */
export function errorOf(answer: Answer, baseUrl: string): FlorinError {
  const said = saidBy(parsed(answer.text), baseUrl);
  const facts: ErrorFacts = {
    status: answer.status,
    code: said?.code ?? (answer.status === 403 ? 'permission_denied' : 'unexpected_answer'),
    message: `${said?.message ?? `HTTP ${answer.status} without a readable error`}${clockHint(answer)}`,
    requestId: answer.headers.get('x-request-id') ?? said?.requestId,
    param: said?.param,
    docUrl: said?.docUrl,
    requestLogUrl: said?.requestLogUrl,
    declineCode: said?.declineCode,
    charge: said?.charge,
    retryAfterSeconds: seconds(answer.headers.get('retry-after')),
  };
  return new (classOf(answer.status))(facts);
}

function classOf(status: number): typeof FlorinError {
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionError;
  if (status === 404) return NotFoundError;
  if (status === 409) return ConflictError;
  if (status === 429) return RateLimitError;
  if (status >= 502 && status <= 504) return ServiceUnavailableError;
  if (status >= 400 && status < 500) return InvalidRequestError;
  return ServerError;
}

interface Said {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId?: string | undefined;
  readonly param?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestLogUrl?: string | undefined;
  readonly declineCode?: string | undefined;
  readonly charge?: string | undefined;
}

/** Payout format: `{code, message, errorCode, data}`; structured: `{error: object or text, request_id, timestamp}`. */
function saidBy(body: unknown, baseUrl: string): Said | undefined {
  if (!isRecord(body)) return undefined;
  if (typeof body.errorCode === 'string') {
    const docUrl = `${baseUrl}/docs/errors/${encodeURIComponent(body.errorCode)}`;
    return { code: body.errorCode, message: text(body.message), docUrl };
  }
  const requestId = text(body.request_id);
  const error = body.error;
  if (typeof error === 'string') return { code: undefined, message: error, requestId };
  if (!isRecord(error)) return undefined;
  return {
    code: text(error.code),
    message: text(error.message),
    requestId,
    param: text(error.param),
    docUrl: text(error.doc_url),
    requestLogUrl: text(error.request_log_url),
    declineCode: text(error.decline_code),
    charge: text(error.charge),
  };
}

/** Every 401 reads the same, so a wrong clock is named here: the answer tells the service's time. */
function clockHint({ status, headers }: Answer): string {
  const skewSeconds = Math.round((Date.now() - Date.parse(headers.get('date') ?? '')) / 1000);
  if (status !== 401 || !(Math.abs(skewSeconds) > 300)) return '';
  const side = skewSeconds > 0 ? 'ahead of' : 'behind';
  return ` (the clock of this machine is ${Math.abs(skewSeconds)} s ${side} the service's; 300 s are allowed)`;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function seconds(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,9}$/.test(header) ? Number(header) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
