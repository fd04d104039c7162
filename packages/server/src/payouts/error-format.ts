import type { PayoutErrorCode } from '@florin/contract/errors';
import { PayoutError } from '@florin/contract/schemas';
import type { FailCode } from '../platform/fail.ts';
import type { ErrorFormat } from '../platform/http/index.ts';

export const PAYOUT_PATH = '/api/v1/payout-batches';

/** `errorCode` for each way to fail (design: API, section 1). Exhaustive by type. */
const CODES: Record<FailCode, PayoutErrorCode> = {
  invalid_request: 'invalid_request',
  parameter_missing: 'invalid_request',
  authentication_required: 'authentication_required',
  forbidden: 'forbidden',
  resource_not_found: 'resource_not_found',
  method_not_allowed: 'invalid_request',
  request_timeout: 'invalid_request',
  conflict: 'conflict',
  body_too_large: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  rate_limited: 'rate_limited',
  service_unavailable: 'service_unavailable',
  internal_error: 'payout_error',
  // Only refunds fail with it, and none of their paths is a payout's.
  daily_refund_limit_exceeded: 'rate_limited',
  insufficient_balance: 'insufficient_balance',
  address_risk_rejected: 'address_risk_rejected',
  batch_amount_limit_exceeded: 'batch_amount_limit_exceeded',
  batch_amount_too_low: 'batch_amount_too_low',
  batch_cannot_submit: 'batch_cannot_submit',
  batch_empty_items: 'batch_empty_items',
  custody_balance_insufficient: 'custody_balance_insufficient',
  quota_blocked: 'quota_blocked',
};

/** Errors of payout paths, of unknown paths below them too: `{ code, message, errorCode, data: null }`. */
export const payoutErrors: ErrorFormat = {
  matches: (path) => path === PAYOUT_PATH || path.startsWith(`${PAYOUT_PATH}/`),
  schema: PayoutError,
  codeOf: (code) => CODES[code],
  body: ({ code, status, message }) => ({ code: status, message, errorCode: CODES[code], data: null }),
};
