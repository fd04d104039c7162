import { PayoutError, StructuredError } from '@florin/contract/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const ajv = new Ajv2020({ strict: false });
const fits = {
  structured: ajv.compile(JSON.parse(JSON.stringify(StructuredError))),
  payout: ajv.compile(JSON.parse(JSON.stringify(PayoutError))),
};

/** Text that only the inside of the service would write. */
const INNER_TEXT =
  /\bat .+:\d+:\d+|node_modules|\bselect\b.+\bfrom\b|insert into|violates|postgres|kysely|ECONN|FST_ERR|undefined|\[object/i;

/** What answers of `fetch` and of a raw socket have in common. */
export interface AnyAnswer {
  status: number;
  headers: Headers | Record<string, string>;
  text: string;
  json: Record<string, unknown>;
}

function headerOf(answer: AnyAnswer, name: string): string | undefined {
  return answer.headers instanceof Headers ? (answer.headers.get(name) ?? undefined) : answer.headers[name];
}

/** The headers that every answer carries. */
export function expectStandardHeaders(answer: AnyAnswer): void {
  expect(headerOf(answer, 'x-request-id')).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  expect(headerOf(answer, 'cache-control')).toBe('no-store');
  expect(headerOf(answer, 'x-service-version')).toBe('2026-04-20');
}

export interface ExpectedError {
  status: number;
  /** `error.code` in the structured format, `errorCode` in the payout format; null: none (403). */
  code?: string | null;
  param?: string;
}

/** Which format a path answers in, by the rule of the design and none of the product's code. */
export const isPayoutPath = (path: string) => /^\/api\/v1\/payout-batches(?=[/?]|$)/.test(path);

/** An error answer, fitting its family's schema exactly, with the headers that every answer has. */
export function expectError(answer: AnyAnswer, path: string, expected: ExpectedError): void {
  expect({ status: answer.status, text: answer.status < 400 ? answer.text : '' }).toEqual({
    status: expected.status,
    text: '',
  });
  expectStandardHeaders(answer);
  expect(headerOf(answer, 'content-type')).toBe('application/json; charset=utf-8');
  expect(answer.text).not.toMatch(INNER_TEXT);
  if (isPayoutPath(path)) expectPayoutError(answer, expected);
  else expectStructuredError(answer, expected);
}

function expectPayoutError(answer: AnyAnswer, expected: ExpectedError): void {
  expect(fits.payout(answer.json), answer.text).toBe(true);
  expect(answer.json.code).toBe(expected.status);
  expect(answer.json.message).not.toBe('');
  if (expected.code !== undefined) expect(answer.json.errorCode).toBe(expected.code ?? 'forbidden');
}

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  409: 'idempotency_error',
  429: 'rate_limit_error',
};

function expectStructuredError(answer: AnyAnswer, expected: ExpectedError): void {
  expect(fits.structured(answer.json), answer.text).toBe(true);
  const {
    error,
    request_id: requestId,
    timestamp,
  } = answer.json as {
    error: Record<string, string>;
    request_id: string;
    timestamp: number;
  };
  expect(requestId).toBe(headerOf(answer, 'x-request-id'));
  expect(Math.abs(timestamp - Date.now() / 1000)).toBeLessThan(60);
  expect(error.message).not.toBe('');
  const fallback = expected.status >= 500 ? 'api_error' : 'invalid_request_error';
  expect(error.type).toBe(TYPES[expected.status] ?? fallback);
  if (expected.code !== undefined) expect(error.code ?? null).toBe(expected.code);
  if (expected.param !== undefined) expect(error.param).toBe(expected.param);
}

/** An error's text without what differs from answer to answer. */
export function withoutIds(answer: AnyAnswer): string {
  return (
    answer.text
      .replace(/"request_id":"[^"]*"/, '"request_id":""')
      // Of a request that names no key there is nothing to read.
      .replace(/,"request_log_url":"[^"]*"/, '')
      .replace(/"timestamp":\d+/, '"timestamp":0')
  );
}
