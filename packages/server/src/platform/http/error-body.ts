import {
  type PayoutErrorCode,
  PERMISSION_DENIED,
  STRUCTURED_ERRORS,
  type StructuredCode,
  type StructuredType,
} from '@florin/contract/errors';
import type { Fail, FailCode } from '../fail.ts';
import { redact } from '../secrets/redact.ts';
import { shorten } from '../secrets/shorten.ts';

export const PAYOUT_PATH = '/api/v1/payout-batches';
export type Family = 'structured' | 'payout';

/**
 * Payout paths, unknown ones below them too, answer in the payout format; all others in the structured one.
 *
 * @param url as received: percent-encoded, and with scheme and host where a proxy is spoken to
 */
export function familyOf(url: string): Family {
  const path = decoded(url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '');
  return path === PAYOUT_PATH || path.startsWith(`${PAYOUT_PATH}/`) ? 'payout' : 'structured';
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

interface Words {
  status: number;
  type: StructuredType;
  /** Code in the structured format; null where the specification has none (403). */
  code: StructuredCode | null;
  /** `errorCode` in the payout format. */
  payout: PayoutErrorCode;
}

const words = (code: StructuredCode, payout: PayoutErrorCode): Words => {
  const { status, type } = STRUCTURED_ERRORS[code];
  return { status, type, code, payout };
};
/** Only payout calls refuse with it: elsewhere it would be a wrong request. */
const payoutOnly = (payout: PayoutErrorCode): Words => words('invalid_request_error', payout);

/** Each way to fail in both formats (design: API, section 1). Exhaustive by type. */
export const WORDS: Record<FailCode, Words> = {
  invalid_request: words('invalid_request_error', 'invalid_request'),
  parameter_missing: words('parameter_missing', 'invalid_request'),
  authentication_required: words('invalid_api_key', 'authentication_required'),
  forbidden: {
    status: PERMISSION_DENIED.status,
    type: PERMISSION_DENIED.type,
    code: null,
    payout: 'forbidden',
  },
  resource_not_found: words('resource_not_found', 'resource_not_found'),
  method_not_allowed: words('method_not_allowed', 'invalid_request'),
  request_timeout: words('request_timeout', 'invalid_request'),
  conflict: words('conflict', 'conflict'),
  body_too_large: words('body_too_large', 'invalid_request'),
  unsupported_media_type: words('unsupported_media_type', 'invalid_request'),
  rate_limited: words('RATE_LIMIT_EXCEEDED', 'rate_limited'),
  service_unavailable: words('service_unavailable', 'service_unavailable'),
  internal_error: words('internal_error', 'payout_error'),
  // Refunds alone refuse with it, and none of their paths is a payout's.
  daily_refund_limit_exceeded: words('DAILY_REFUND_LIMIT_EXCEEDED', 'rate_limited'),
  insufficient_balance: words('insufficient_balance', 'insufficient_balance'),
  address_risk_rejected: payoutOnly('address_risk_rejected'),
  batch_amount_limit_exceeded: payoutOnly('batch_amount_limit_exceeded'),
  batch_amount_too_low: payoutOnly('batch_amount_too_low'),
  batch_cannot_submit: payoutOnly('batch_cannot_submit'),
  batch_empty_items: payoutOnly('batch_empty_items'),
  custody_balance_insufficient: payoutOnly('custody_balance_insufficient'),
  quota_blocked: payoutOnly('quota_blocked'),
};

/** Longer than any message of ours with what it quotes. */
const MESSAGE_LENGTH_MAX = 1_000;

export interface ErrorContext {
  family: Family;
  requestId: string;
  nowSeconds: number;
  publicUrl: string;
}

/** The body of an error answer in the family of its path. */
export function errorBody(fail: Fail, context: ErrorContext): object {
  const { status, type, code, payout } = WORDS[fail.code];
  // A name that the caller made up is quoted; one who puts a key there gets it back masked.
  const message = redact(shorten(fail.details.message, MESSAGE_LENGTH_MAX));
  const param = fail.details.param === undefined ? undefined : redact(shorten(fail.details.param));
  const { declineCode, charge } = fail.details;
  if (context.family === 'payout') {
    return { code: status, message, errorCode: payout, data: null };
  }
  return {
    error: {
      type,
      ...(code === null ? {} : { code }),
      message,
      ...(param === undefined ? {} : { param }),
      ...(declineCode === undefined ? {} : { decline_code: declineCode }),
      ...(charge === undefined ? {} : { charge }),
      doc_url: `${context.publicUrl}/docs/errors/${code ?? 'forbidden'}`,
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
