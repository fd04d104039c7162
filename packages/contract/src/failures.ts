import { PERMISSION_DENIED, STRUCTURED_ERRORS, type StructuredCode, type StructuredType } from './errors.ts';

/** What can go wrong for a caller, whichever body format the path has. */
export type FailCode =
  | 'invalid_request'
  | 'parameter_missing'
  | 'authentication_required'
  | 'forbidden'
  | 'resource_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'service_unavailable'
  | 'internal_error'
  | 'insufficient_balance'
  | 'address_risk_rejected'
  | 'batch_amount_limit_exceeded'
  | 'batch_amount_too_low'
  | 'batch_cannot_submit'
  | 'batch_empty_items'
  | 'custody_balance_insufficient'
  | 'quota_blocked'
  | 'daily_refund_limit_exceeded';

const structured = (code: StructuredCode) => {
  const { status, type } = STRUCTURED_ERRORS[code];
  return { status, type, code };
};

/** Status, type and code of each failure in the structured format; the specification has no code for a 403. */
export const FAILURES: Readonly<
  Record<FailCode, { status: number; type: StructuredType; code: StructuredCode | null }>
> = {
  invalid_request: structured('invalid_request_error'),
  parameter_missing: structured('parameter_missing'),
  authentication_required: structured('invalid_api_key'),
  forbidden: { status: PERMISSION_DENIED.status, type: PERMISSION_DENIED.type, code: null },
  resource_not_found: structured('resource_not_found'),
  method_not_allowed: structured('method_not_allowed'),
  request_timeout: structured('request_timeout'),
  conflict: structured('conflict'),
  body_too_large: structured('body_too_large'),
  unsupported_media_type: structured('unsupported_media_type'),
  rate_limited: structured('RATE_LIMIT_EXCEEDED'),
  service_unavailable: structured('service_unavailable'),
  internal_error: structured('internal_error'),
  daily_refund_limit_exceeded: structured('DAILY_REFUND_LIMIT_EXCEEDED'),
  insufficient_balance: structured('insufficient_balance'),
  // The payout format has names of its own for these.
  address_risk_rejected: structured('invalid_request_error'),
  batch_amount_limit_exceeded: structured('invalid_request_error'),
  batch_amount_too_low: structured('invalid_request_error'),
  batch_cannot_submit: structured('invalid_request_error'),
  batch_empty_items: structured('invalid_request_error'),
  custody_balance_insufficient: structured('invalid_request_error'),
  quota_blocked: structured('invalid_request_error'),
};
