import type { Fail, FailCode } from '../fail.ts';

export const PAYOUT_PATH = '/api/v1/payout-batches';
export type Family = 'structured' | 'payout';

/** Payout paths, unknown ones below them too, answer in the payout format; all others in the structured one. */
export function familyOf(url: string): Family {
  const path = url.split('?', 1)[0] ?? url;
  return path === PAYOUT_PATH || path.startsWith(`${PAYOUT_PATH}/`) ? 'payout' : 'structured';
}

interface Words {
  status: number;
  type: string;
  /** Code in the structured format; null where the specification has none (403). */
  code: string | null;
  /** `errorCode` in the payout format. */
  payout: string;
}
const request = 'invalid_request_error';
const business = (code: string): Words => ({ status: 400, type: request, code, payout: code });

/** Each way to fail in both formats (design: API, section 1). Exhaustive by type. */
export const WORDS: Record<FailCode, Words> = {
  invalid_request: { status: 400, type: request, code: 'invalid_request_error', payout: 'invalid_request' },
  parameter_missing: { status: 400, type: request, code: 'parameter_missing', payout: 'invalid_request' },
  authentication_required: {
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    payout: 'authentication_required',
  },
  forbidden: { status: 403, type: 'permission_error', code: null, payout: 'forbidden' },
  resource_not_found: {
    status: 404,
    type: request,
    code: 'resource_not_found',
    payout: 'resource_not_found',
  },
  method_not_allowed: { status: 405, type: request, code: 'method_not_allowed', payout: 'invalid_request' },
  request_timeout: { status: 408, type: request, code: 'request_timeout', payout: 'invalid_request' },
  conflict: { status: 409, type: 'idempotency_error', code: 'conflict', payout: 'conflict' },
  body_too_large: { status: 413, type: request, code: 'body_too_large', payout: 'invalid_request' },
  unsupported_media_type: {
    status: 415,
    type: request,
    code: 'unsupported_media_type',
    payout: 'invalid_request',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    code: 'RATE_LIMIT_EXCEEDED',
    payout: 'rate_limited',
  },
  daily_refund_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    code: 'DAILY_REFUND_LIMIT_EXCEEDED',
    payout: 'rate_limited',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    code: 'service_unavailable',
    payout: 'service_unavailable',
  },
  internal_error: { status: 500, type: 'api_error', code: 'internal_error', payout: 'payout_error' },
  insufficient_balance: business('insufficient_balance'),
  address_risk_rejected: business('address_risk_rejected'),
  batch_amount_limit_exceeded: business('batch_amount_limit_exceeded'),
  batch_amount_too_low: business('batch_amount_too_low'),
  batch_cannot_submit: business('batch_cannot_submit'),
  batch_empty_items: business('batch_empty_items'),
  custody_balance_insufficient: business('custody_balance_insufficient'),
  quota_blocked: business('quota_blocked'),
};

export interface ErrorContext {
  family: Family;
  requestId: string;
  nowSeconds: number;
  publicUrl: string;
}

/** The body of an error answer in the family of its path. */
export function errorBody(fail: Fail, context: ErrorContext): object {
  const words = WORDS[fail.code];
  const { message, param } = fail.details;
  if (context.family === 'payout') {
    return { code: words.status, message, errorCode: words.payout, data: null };
  }
  return {
    error: {
      type: words.type,
      ...(words.code === null ? {} : { code: words.code }),
      message,
      ...(param === undefined ? {} : { param }),
      doc_url: `${context.publicUrl}/docs/errors/${words.code ?? 'forbidden'}`,
    },
    request_id: context.requestId,
    timestamp: context.nowSeconds,
  };
}

export function statusOf(fail: Fail): number {
  return WORDS[fail.code].status;
}

/** Headers that some failures carry. */
export function errorHeaders(fail: Fail): Record<string, string> {
  const { retryAfterSeconds, allow } = fail.details;
  return {
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    ...(fail.code === 'authentication_required' ? { 'www-authenticate': 'Bearer' } : {}),
  };
}
