import { describe, expect, test } from 'vitest';
import {
  ITEM_FAILURES,
  ITEM_FINDINGS,
  PAYOUT_ERRORS,
  PERMISSION_DENIED,
  STRUCTURED_ERRORS,
} from './errors.ts';

/** The rows of the specification and of its completion, written a second time on purpose: status → codes. */
const STRUCTURED_BY_STATUS = {
  400: ['insufficient_balance', 'invalid_request_error', 'parameter_missing'],
  401: ['invalid_api_key'],
  404: ['resource_not_found'],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: ['conflict'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  429: ['DAILY_REFUND_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'],
  500: ['internal_error'],
  503: ['service_unavailable'],
};
const PAYOUT_BY_STATUS = {
  400: [
    'address_risk_rejected',
    'batch_amount_limit_exceeded',
    'batch_amount_too_low',
    'batch_cannot_submit',
    'batch_empty_items',
    'custody_balance_insufficient',
    'insufficient_balance',
    'invalid_request',
    'quota_blocked',
  ],
  401: ['authentication_required'],
  403: ['forbidden'],
  404: ['resource_not_found'],
  409: ['conflict'],
  429: ['rate_limited'],
  500: ['payout_error'],
  503: ['service_unavailable'],
};
const TYPE_BY_STATUS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  409: 'idempotency_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
};

function codesByStatus(table: Readonly<Record<string, { status: number }>>): Record<string, string[]> {
  const codes = Object.keys(table).toSorted();
  return Object.fromEntries(
    [...new Set(Object.values(table).map((row) => row.status))].map((status) => [
      String(status),
      codes.filter((code) => table[code]?.status === status),
    ]),
  );
}

test('the structured codes and their statuses', () => {
  expect(codesByStatus(STRUCTURED_ERRORS)).toEqual(STRUCTURED_BY_STATUS);
});

test('every structured error has the type of its status', () => {
  for (const row of [...Object.values(STRUCTURED_ERRORS), PERMISSION_DENIED]) {
    expect(row.type).toBe(TYPE_BY_STATUS[row.status]);
  }
});

test('the payout codes and their statuses', () => {
  expect(codesByStatus(PAYOUT_ERRORS)).toEqual(PAYOUT_BY_STATUS);
  expect(PAYOUT_ERRORS.invalid_request.otherStatuses).toEqual([405, 408, 413, 415]);
});

test('the codes of findings and failures', () => {
  expect(Object.keys(ITEM_FINDINGS).toSorted()).toEqual([
    'address_invalid',
    'address_risk',
    'network_mismatch',
    'token_not_supported',
  ]);
  expect(Object.keys(ITEM_FAILURES).toSorted()).toEqual(['address_risk', 'transfer_failed']);
});

describe('every page has a title, and one sentence each for cause and advice', () => {
  const tables = {
    STRUCTURED_ERRORS,
    PAYOUT_ERRORS,
    ITEM_FINDINGS,
    ITEM_FAILURES,
    other: { PERMISSION_DENIED },
  };
  for (const [table, rows] of Object.entries(tables)) {
    test.each(Object.entries(rows))(`${table} %s`, (_code, row) => {
      expect(row.title).toMatch(/^[A-Z][^.]+$/);
      expect(row.cause).toMatch(/^[A-Z].{20,}\.$/);
      expect(row.advice).toMatch(/^[A-Z].{20,}\.$/);
      for (const sentence of [row.cause, row.advice]) expect(sentence.match(/\.( |$)/g)).toHaveLength(1);
    });
  }
});
