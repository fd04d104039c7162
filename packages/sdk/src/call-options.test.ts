import { expect, test } from 'vitest';
import { Florin, InvalidRequestError, responseOf, TimeoutError } from './index.ts';
import { API_KEY, neverAnswers, SECRET_KEY, startPeer } from './test-peer.ts';

const PAGE = { object: 'list', data: [{ id: 'pay_1' }], has_more: false, url: '/' };

test('the environment names the service and the key; what is missing is named', async () => {
  await using peer = await startPeer({ json: PAGE });
  const env = { FLORIN_BASE_URL: peer.url, FLORIN_API_KEY: API_KEY, FLORIN_SECRET_KEY: SECRET_KEY };
  await Florin.fromEnv({}, env).payments.list();
  expect(peer.received).toHaveLength(1);
  expect(() => Florin.fromEnv({}, { ...env, FLORIN_API_KEY: '', FLORIN_BASE_URL: undefined })).toThrow(
    'FLORIN_BASE_URL, FLORIN_API_KEY must be set',
  );
});

test('one call has its own time limit, and the client keeps its own', async () => {
  await using peer = await startPeer(neverAnswers, { json: PAGE });
  const client = peer.client({ maxRetries: 0, timeoutMs: 20_000 });
  await expect(client.withOptions({ timeoutMs: 1_000 }).payments.list()).rejects.toThrow(TimeoutError);
  expect((await client.payments.list()).data).toHaveLength(1);
});

test('a call is ended by its signal, while it waits for an answer and between attempts', async () => {
  const busy = { status: 503, headers: { 'retry-after': '30' }, json: {} };
  for (const step of [neverAnswers, busy]) {
    await using peer = await startPeer(step);
    const ending = new AbortController();
    const reason = new Error('the shop closes');
    const call = peer.client().withOptions({ signal: ending.signal }).payments.retrieve('pay_1');
    while (peer.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    ending.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(peer.received).toHaveLength(1);
  }
});

test('a result tells its request id and headers, and is nothing but the answer', async () => {
  await using peer = await startPeer({ json: { id: 'pay_1' }, headers: { 'x-extra': '7' } }, { json: PAGE });
  const payment = await peer.client().payments.retrieve('pay_1');
  expect(responseOf(payment)).toMatchObject({ status: 200, requestId: 'req_1' });
  expect(responseOf(payment)?.headers.get('x-extra')).toBe('7');
  expect(payment).toEqual({ id: 'pay_1' });
  expect(responseOf(await peer.client().payments.list())?.requestId).toBe('req_1');
  expect(responseOf({})).toBeUndefined();
});

test('a list is awaited for one page', async () => {
  await using peer = await startPeer(
    { json: PAGE },
    { status: 400, json: { error: { code: 'invalid_request', message: 'no' } } },
  );
  const client = peer.client();
  const { data, has_more } = await client.payments.list({ limit: 1 });
  expect([data, has_more]).toEqual([PAGE.data, false]);
  await expect(client.payments.list()).rejects.toThrow(InvalidRequestError);
});

test('http is for this machine, and for the one host that is named', () => {
  const open = (baseUrl: string, allowInsecureHttp?: string) =>
    new Florin({ baseUrl, apiKey: 'k', secretKey: 's', ...(allowInsecureHttp && { allowInsecureHttp }) });
  expect(() => open('http://florin:8420')).toThrow('allowInsecureHttp');
  expect(() => open('http://florin.evil.example', 'florin')).toThrow('allowInsecureHttp');
  expect(() => open('ftp://florin', 'florin')).toThrow('allowInsecureHttp');
  expect(open('http://florin:8420', 'Florin')).toBeInstanceOf(Florin);
});
