import { PAYOUT_ERRORS, STRUCTURED_ERRORS } from '@florin/contract/errors';
import { describe, expect, test } from 'vitest';
import { errorOf } from './errors.ts';
import { FlorinError, ServerError } from './index.ts';
import { startPeer } from './test-peer.ts';

const CLASS_BY_STATUS: Record<number, string> = {
  400: 'InvalidRequestError',
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'NotFoundError',
  405: 'InvalidRequestError',
  408: 'InvalidRequestError',
  409: 'ConflictError',
  413: 'InvalidRequestError',
  415: 'InvalidRequestError',
  429: 'RateLimitError',
  500: 'ServerError',
  502: 'ServiceUnavailableError',
  503: 'ServiceUnavailableError',
  504: 'ServiceUnavailableError',
};
const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  errorOf(
    { status, headers: new Headers(headers), text: typeof body === 'string' ? body : JSON.stringify(body) },
    'https://pay.example',
  );

describe('structured format', () => {
  test.each(Object.entries(STRUCTURED_ERRORS))('%s', (code, { status, type }) => {
    const error = answer(
      status,
      {
        error: {
          type,
          code,
          message: 'why',
          param: 'items[0].quantity',
          doc_url: 'https://docs.example/e',
          request_log_url: 'https://pay.example/console/requests/req_9',
        },
        request_id: 'req_9',
        timestamp: 1,
      },
      { 'x-request-id': 'req_9', 'retry-after': '7' },
    );
    expect(error).toBeInstanceOf(FlorinError);
    expect(error).toMatchObject({
      name: CLASS_BY_STATUS[status],
      status,
      code,
      message: 'why',
      requestId: 'req_9',
      param: 'items[0].quantity',
      docUrl: 'https://docs.example/e',
      requestLogUrl: 'https://pay.example/console/requests/req_9',
      retryAfterSeconds: 7,
    });
  });

  test('403 has no code of the service, and the request id can come from the body', () => {
    const error = answer(403, {
      error: { type: 'permission_error', message: 'no' },
      request_id: 'req_b',
      timestamp: 1,
    });
    expect(error).toMatchObject({ name: 'PermissionError', code: 'permission_denied', requestId: 'req_b' });
  });

  test('error may be text', () => {
    expect(answer(400, { error: 'just text', request_id: 'r' })).toMatchObject({
      message: 'just text',
      status: 400,
    });
  });
});

describe('payout format', () => {
  test.each(Object.entries(PAYOUT_ERRORS))('%s', (code, { status, otherStatuses = [] }) => {
    for (const each of [status, ...otherStatuses]) {
      const error = answer(
        each,
        { code: each, message: 'why', errorCode: code, data: null },
        { 'x-request-id': 'req_2' },
      );
      expect(error).toMatchObject({
        name: CLASS_BY_STATUS[each],
        status: each,
        code,
        message: 'why',
        requestId: 'req_2',
      });
      const docUrl = `https://pay.example/docs/errors/${code}`;
      expect(error).toMatchObject({ param: undefined, docUrl, retryAfterSeconds: undefined });
    }
  });
});

describe('what is no answer of this API', () => {
  test.each(['', '<html>', 'null', '[]', '{}', '{"error":7}', '{"error":null}', '"x"'])('%j', (body) => {
    for (const [status, name] of Object.entries(CLASS_BY_STATUS)) {
      const error = answer(Number(status), body);
      expect(error.name).toBe(name);
      expect(error.code).toBe(status === '403' ? 'permission_denied' : 'unexpected_answer');
      expect(error.message).toContain(status);
    }
  });

  test('a 200 without JSON says what to check', async () => {
    await using peer = await startPeer((response) => void response.end('<html>a login page</html>'));
    const read = peer.client().balances.retrieve();
    await expect(read).rejects.toThrow(ServerError);
    await expect(read).rejects.toThrow('is baseUrl the address of the service?');
  });

  test.each(['x', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT', '9999999999'])(
    'Retry-After: %s is passed over',
    (value) => {
      expect(answer(503, '', { 'retry-after': value }).retryAfterSeconds).toBeUndefined();
    },
  );
});

describe('a wrong clock is named, since every 401 reads the same', () => {
  const at = (offsetSeconds: number) => ({ date: new Date(Date.now() + offsetSeconds * 1000).toUTCString() });
  const body = { error: { type: 'authentication_error', code: 'invalid_api_key', message: 'refused' } };
  test('ahead, behind, right and unknown', () => {
    expect(answer(401, body, at(-1_000)).message).toMatch(
      /^refused \(the clock of this machine is (1000|1001|999) s ahead of/,
    );
    expect(answer(401, body, at(1_000)).message).toMatch(/ s behind the service's/);
    expect(answer(401, body, at(0)).message).toBe('refused');
    expect(answer(401, body).message).toBe('refused');
  });
});
