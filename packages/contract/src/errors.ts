/**
 * Every error code of the API, in both body formats (spec section 7, design of the missing codes included).
 * The tables are exhaustive by type: a code without a status, a cause and an advice does not compile. The
 * error pages that `doc_url` points at and the reference are written from them.
 */

/** Codes of the structured format. 403 has none: see `PERMISSION_DENIED`. */
export type StructuredCode =
  | 'parameter_missing'
  | 'invalid_request_error'
  | 'insufficient_balance'
  | 'invalid_api_key'
  | 'resource_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'RATE_LIMIT_EXCEEDED'
  | 'DAILY_REFUND_LIMIT_EXCEEDED'
  | 'internal_error'
  | 'service_unavailable';

export type StructuredType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

/** Codes of the payout format (`errorCode`). */
export type PayoutErrorCode =
  | 'invalid_request'
  | 'address_risk_rejected'
  | 'batch_amount_limit_exceeded'
  | 'batch_amount_too_low'
  | 'batch_cannot_submit'
  | 'batch_empty_items'
  | 'custody_balance_insufficient'
  | 'insufficient_balance'
  | 'quota_blocked'
  | 'authentication_required'
  | 'forbidden'
  | 'resource_not_found'
  | 'conflict'
  | 'rate_limited'
  | 'payout_error'
  | 'service_unavailable';

/** Codes in `validation_errors` of a batch or item: the item is `invalid`, but the request succeeded. */
export type ItemFindingCode = 'address_invalid' | 'network_mismatch' | 'token_not_supported' | 'address_risk';

/** Values of an item's `failure_code` (and of a refund's `failure_reason`). */
export type ItemFailureCode = 'address_risk' | 'transfer_failed';

/** What happened and what to do, one sentence each. */
export interface Explanation {
  readonly title: string;
  readonly cause: string;
  readonly advice: string;
}

export interface StructuredError extends Explanation {
  readonly status: number;
  readonly type: StructuredType;
}

export interface PayoutError extends Explanation {
  readonly status: number;
  /** Statuses that carry the same code because the format has no code of their own for them. */
  readonly otherStatuses?: readonly number[];
}

export const STRUCTURED_ERRORS: Readonly<Record<StructuredCode, StructuredError>> = {
  parameter_missing: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Required parameter missing',
    cause: 'A field, query parameter or header that this call requires was not sent.',
    advice: 'Add the parameter named in `param`; a field set to null counts as malformed, not as present.',
  },
  invalid_request_error: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Invalid request',
    cause:
      'The request is malformed, names an unknown field, or asks for something the resource does not allow in its present state.',
    advice: 'Correct the parameter named in `param` as the message says; the same request will fail again.',
  },
  insufficient_balance: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Insufficient balance',
    cause: 'The available balance of this currency is smaller than the amount to be reserved.',
    advice:
      'Read `GET /api/v1/balances`, wait for money to become available or ask for less, then call again.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    title: 'Authentication failed',
    cause:
      'The API key is unknown, expired or revoked, or the signature, timestamp or nonce was not accepted.',
    advice:
      'Check the key, sign the exact bytes that are sent, use a new nonce for every attempt, and set the clock within 300 seconds.',
  },
  resource_not_found: {
    status: 404,
    type: 'invalid_request_error',
    title: 'Resource not found',
    cause: 'No resource with this id, or no such path, exists for the merchant of this API key.',
    advice:
      'Check the id, and that the key belongs to the mode (sandbox or live) in which the resource was created.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    title: 'Method not allowed',
    cause: 'The path exists but does not answer to this HTTP method.',
    advice: 'Use one of the methods listed in the `Allow` header of the answer.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    title: 'Request took too long to arrive',
    cause: 'The headers or the body were not complete in time, so that nothing was done.',
    advice: 'Send the request again over a better connection, signed anew.',
  },
  conflict: {
    status: 409,
    type: 'idempotency_error',
    title: 'Idempotency key used with other parameters',
    cause: 'This idempotency key or refund_id already belongs to a request with different parameters.',
    advice: 'Use a new key for a new intention, and send exactly the first body when you mean to repeat.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    title: 'Body too large',
    cause: 'The body is larger than 1 MiB and was not read.',
    advice: 'Send less in one request.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    title: 'Unsupported media type',
    cause: 'The body is compressed, or is not declared as `application/json`.',
    advice: 'Send plain JSON with `Content-Type: application/json` and without `Content-Encoding`.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    type: 'rate_limit_error',
    title: 'Too many requests',
    cause: 'This API key sent more requests than its rate allows; nothing was done.',
    advice: 'Wait for the seconds given in `Retry-After`, then send the request again, signed anew.',
  },
  DAILY_REFUND_LIMIT_EXCEEDED: {
    status: 429,
    type: 'rate_limit_error',
    title: 'Daily refund limit reached',
    cause: 'The refunds that this store created today (UTC), together with this one, exceed its daily limit.',
    advice:
      'Refund the rest on the next UTC day, in parts if the payment exceeds the limit; do not retry automatically.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    title: 'Internal error',
    cause: 'The service met an error of its own.',
    advice:
      'Read the state of the resource before repeating a write, and report the `request_id` if it happens again.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    title: 'Service temporarily unavailable',
    cause:
      'A part that this call needs cannot be reached, or the first request with this key is still running.',
    advice: 'Wait for `Retry-After`, read the state of the resource, then repeat a write with the same key.',
  },
};

/** 403 of the structured format, the one error without a code. */
export const PERMISSION_DENIED: StructuredError = {
  status: 403,
  type: 'permission_error',
  title: 'Permission denied',
  cause:
    'The key lacks the scope, the resource belongs to another store of the merchant, or the store is disabled.',
  advice: 'Use a key of the right store with the scope that this call needs.',
};

export const PAYOUT_ERRORS: Readonly<Record<PayoutErrorCode, PayoutError>> = {
  invalid_request: {
    status: 400,
    otherStatuses: [405, 408, 413, 415],
    title: 'Invalid request',
    cause:
      'The request is malformed, lacks a required part such as Idempotency-Key, or does not fit the state of the batch.',
    advice: 'Correct what the message names; the same request will fail again.',
  },
  address_risk_rejected: {
    status: 400,
    title: 'Recipient address refused by risk rules',
    cause: 'On submit, an address of the batch was found on a risk list.',
    advice: 'Read the batch, replace or delete the items named in `validation_errors`, then submit again.',
  },
  batch_amount_limit_exceeded: {
    status: 400,
    title: 'Batch amount above the maximum',
    cause: 'The sum of all items exceeds what one batch may carry.',
    advice: 'Split the payout into several batches, each with its own Idempotency-Key.',
  },
  batch_amount_too_low: {
    status: 400,
    title: 'Batch amount below the minimum',
    cause: 'The sum of all items is below the smallest batch that is paid out.',
    advice: 'Collect more items into one batch.',
  },
  batch_cannot_submit: {
    status: 400,
    title: 'Batch cannot be submitted',
    cause: 'The batch was already submitted or canceled, or an item of it is invalid.',
    advice:
      'Read the batch: mend the items named in `validation_errors`, or leave it if its status shows it was submitted.',
  },
  batch_empty_items: {
    status: 400,
    title: 'Batch without items',
    cause: 'The list of items is empty, or the last item of a batch was to be deleted.',
    advice: 'Send 1 to 200 items; cancel the batch when it is no longer wanted.',
  },
  custody_balance_insufficient: {
    status: 400,
    title: 'Not enough coins on the network',
    cause: 'The balance covers the batch, but too few of the coins lie on the network of its items.',
    advice:
      'Pay out on a network where `custody` in `GET /api/v1/balances` is large enough, or wait until coins were moved.',
  },
  insufficient_balance: {
    status: 400,
    title: 'Insufficient balance',
    cause: 'The available balance of this currency is smaller than the amounts and fees of the batch.',
    advice:
      'Compare `debit_amount` with `available` in `GET /api/v1/balances`, and submit again when it is covered.',
  },
  quota_blocked: {
    status: 400,
    title: 'Payout quota reached',
    cause:
      'The batches submitted today (UTC) in this currency, together with this one, exceed the quota of the merchant; or the operator has not turned on payouts of real money on this network.',
    advice: 'Submit on the next UTC day, or ask the operator for a higher quota or for the network.',
  },
  authentication_required: {
    status: 401,
    title: 'Authentication failed',
    cause:
      'The API key is unknown, expired or revoked, or the signature, timestamp or nonce was not accepted.',
    advice:
      'Check the key, sign the exact bytes that are sent, use a new nonce for every attempt, and set the clock within 300 seconds.',
  },
  forbidden: {
    status: 403,
    title: 'Permission denied',
    cause: 'The key lacks the scope `payouts`, or the store or the merchant is disabled.',
    advice: 'Use a key with the scope `payouts`, or ask the operator why the store is disabled.',
  },
  resource_not_found: {
    status: 404,
    title: 'Resource not found',
    cause: 'No batch or item with this id, or no such path, exists for the merchant of this API key.',
    advice:
      'Check the id, and that the key belongs to the mode (sandbox or live) in which the batch was created.',
  },
  conflict: {
    status: 409,
    title: 'Idempotency key used with other parameters',
    cause: 'This Idempotency-Key already belongs to a batch that was created with different parameters.',
    advice: 'Use a new key for a new batch, and send exactly the first body when you mean to repeat.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    cause: 'This API key sent more requests than its rate allows; nothing was done.',
    advice: 'Wait for the seconds given in `Retry-After`, then send the request again, signed anew.',
  },
  payout_error: {
    status: 500,
    title: 'Payout error',
    cause: 'The service met an error of its own that has no finer code.',
    advice:
      'Read the state of the batch before repeating a write, and report the `X-Request-ID` if it happens again.',
  },
  service_unavailable: {
    status: 503,
    title: 'Payout service temporarily unavailable',
    cause: 'The service timed out or cannot reach a part it needs, or the token or network is paused.',
    advice:
      'Query first (the list by `idempotency_key`, or the batch), and only then repeat the write, with the same key.',
  },
};

export const ITEM_FINDINGS: Readonly<Record<ItemFindingCode, Explanation>> = {
  address_invalid: {
    title: 'Address not payable',
    cause:
      'The address is malformed for its network, fails its checksum, is one that no person can own, such as a burn address or a token contract, or is one of your own: paid there, the money would not leave you.',
    advice: 'Ask the recipient for a wallet address of that network and mend the item.',
  },
  network_mismatch: {
    title: 'Item on another network',
    cause: 'The item names another network than the first item, which fixes the network of the batch.',
    advice: 'Put items of another network into a batch of their own.',
  },
  token_not_supported: {
    title: 'Token not offered on this network',
    cause: 'The currency of the batch is not paid out on the network of the item.',
    advice: 'Choose another network or currency for this recipient.',
  },
  address_risk: {
    title: 'Address on a risk list',
    cause: 'The address is on a risk list that the operator obeys.',
    advice: 'Delete the item or use another address of the recipient.',
  },
};

export const ITEM_FAILURES: Readonly<Record<ItemFailureCode, Explanation>> = {
  address_risk: {
    title: 'Address listed after submit',
    cause:
      'The address came on a risk list after the batch was submitted, so that the transfer was not sent.',
    advice: 'The amount went back to the available balance; pay another address in a new batch.',
  },
  transfer_failed: {
    title: 'Transfer failed on the network',
    cause:
      'The network executed the transfer and refused it, and its final state proves that nothing was paid.',
    advice:
      'The amount went back to the available balance; check the address with the recipient and pay in a new batch.',
  },
};
