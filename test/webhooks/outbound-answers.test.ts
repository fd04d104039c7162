import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import type { OutboundAnswer } from '../../packages/server/src/platform/outbound/exchange.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import type { Outbound } from '../../packages/server/src/platform/outbound/outbound.ts';
import { recordDialled } from './dialled.ts';
import { type HostileReceiver, startHostileReceiver } from './hostile-receiver.ts';

const LONG_MS = 30_000;
/** The timeout of attempts that must time out; short, as nothing else is measured. */
const SHORT_MS = 4_000;
const BODY = Buffer.from('{"id":"evt_1"}');
const HEADERS = { 'Content-Type': 'application/json', 'X-Service-Event-ID': 'evt_1' };

let receiver: HostileReceiver;
let patient: Outbound;
let hasty: Outbound;
const surprises: unknown[] = [];
const onSurprise = (error: unknown) => surprises.push(error);

beforeAll(async () => {
  receiver = await startHostileReceiver();
  const options = { ca: receiver.ca, allow: parseNetworks('127.0.0.0/8,::1/128') ?? [] };
  patient = createOutbound({ ...options, timeoutMs: LONG_MS });
  hasty = createOutbound({ ...options, timeoutMs: SHORT_MS });
  process.on('uncaughtException', onSurprise).on('unhandledRejection', onSurprise);
});
afterEach(async () => {
  await receiver.forget();
});
afterAll(async () => {
  process.off('uncaughtException', onSurprise).off('unhandledRejection', onSurprise);
  patient.close();
  hasty.close();
  await receiver.stop();
});

async function post(behaviour: string, outbound = patient, signal?: AbortSignal): Promise<OutboundAnswer> {
  const url = receiver.url(behaviour);
  return await outbound.post({ url, headers: HEADERS, body: BODY, sandbox: true, ...(signal && { signal }) });
}

function answered(status: number, response = `status ${status}`): OutboundAnswer {
  return { failure: null, status, response: Buffer.from(response) };
}

test('the receiver gets the request as given, without further headers', async () => {
  expect(await post('status/200?a=1&b=%2F')).toEqual(answered(200));
  const { requests } = await receiver.report();
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method: 'POST', path: '/status/200?a=1&b=%2F', body: BODY.toString() });
  expect(requests[0]?.headers).toEqual({
    host: new URL(receiver.url('')).host,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'x-service-event-id': 'evt_1',
    'content-length': String(BODY.length),
  });
});

test.each([
  200, 201, 202, 206, 299, 300, 304, 400, 401, 404, 410, 418, 429, 451, 500, 502, 503, 599, 600, 999,
])('status %i is an answer', async (status) => {
  expect(await post(`status/${status}`)).toEqual(answered(status, status === 304 ? '' : undefined));
});

test('a 204 has no body', async () => {
  expect(await post('status/204')).toEqual(answered(204, ''));
});

test.each([301, 302, 303, 307, 308])(
  'E3, fault 36: %i to a metadata address is not followed',
  async (status) => {
    const dialled = recordDialled();
    expect(await post(`redirect/${status}`)).toEqual(answered(status));
    dialled.stop();
    expect(dialled.addresses.filter((address) => !address.startsWith('127.'))).toEqual([]);
    expect((await receiver.report()).requests).toHaveLength(1);
  },
);

test.each(['1', '0', '-1', '99999999999', 'Wed, 21 Oct 2099 07:28:00 GMT', 'soon', ''])(
  'Retry-After %j changes nothing',
  async (form) => expect(await post(`retry-after/${encodeURIComponent(form)}`)).toEqual(answered(503)),
);

test.each(['100', '102', '103', '100,100,103,199', '103,100'])(
  'interim answers %s are skipped',
  async (statuses) => {
    expect(await post(`interim/${statuses}`)).toEqual(answered(200));
    // The connection is as good as any other afterwards.
    expect(await post('status/201')).toEqual(answered(201));
    const { requests } = await receiver.report();
    expect(requests[1]?.connection).toBe(requests[0]?.connection);
  },
);

test.each([
  ['close', 'connection'],
  ['reset', 'connection'],
  ['reset-in-header', 'connection'],
  ['close-in-header', 'connection'],
  ['not-http', 'protocol'],
  ['http-9', 'protocol'],
  ['broken-status', 'protocol'],
  ['upgrade', 'protocol'],
  ['header/70000', 'protocol'],
  ['endless-header', 'protocol'],
] as const)('E5: %s is %s', async (behaviour, failure) => {
  expect(await post(behaviour)).toEqual({ failure, sent: true });
  expect((await receiver.report()).requests).toHaveLength(1);
});

test('a header just below 64 kB is read', async () => {
  expect(await post('header/64000')).toEqual(answered(200));
});

test('a complete header with a truncated body is acknowledged with the part that came', async () => {
  expect(await post('reset-in-body')).toEqual(answered(200, 'half of it'));
  expect(await post('close-in-body')).toEqual(answered(200, 'half of it'));
});

test.each(['hang', 'drip-header'])('E5: %s ends with the time of the attempt', async (behaviour) => {
  const began = performance.now();
  expect(await post(behaviour, hasty)).toEqual({ failure: 'timeout', sent: true });
  expect(performance.now() - began).toBeGreaterThan(SHORT_MS - 50);
  await vi.waitFor(() => expect(hasty.size).toEqual({ open: 0, idle: 0, origins: 0 }), LONG_MS);
});

test('E5: endless interim answers end with the timeout', async () => {
  expect(await post('endless-interim', hasty)).toEqual({ failure: 'timeout', sent: true });
});

test('E5: a dripping body is acknowledged and read until the timeout', async () => {
  const answer = await post('drip-body', hasty);
  expect(answer).toMatchObject({ failure: null, status: 200 });
  expect('response' in answer && answer.response.toString()).toMatch(/^begun b+$/);
  await vi.waitFor(async () => expect((await receiver.report()).open).toBe(0), LONG_MS);
});

test('E5: of an endless body only the allowed part is read, and the slot is freed', async () => {
  const answer = await post('endless-body');
  expect(answer).toEqual(answered(200, 'e'.repeat(1_024)));
  await vi.waitFor(async () => {
    expect(patient.size.open).toBe(patient.size.idle);
    expect((await receiver.report()).open).toBe(patient.size.open);
  }, LONG_MS);
});

test('E5: a body of 20,480 bytes leaves the connection open, one byte more closes it', async () => {
  const kept = answered(200, 'b'.repeat(1_024));
  expect(await post('body/20480')).toEqual(kept);
  expect(await post('body/20481')).toEqual(kept);
  expect(await post('status/200')).toEqual(answered(200));
  const { requests } = await receiver.report();
  const [first, second, third] = requests.map(({ connection }) => connection);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test('nothing is inflated: a compressed body is kept as it came', async () => {
  const answer = await post('gzip-bomb');
  expect(answer).toMatchObject({ failure: null, status: 200 });
  expect('response' in answer && answer.response.subarray(0, 2)).toEqual(Buffer.of(0x1f, 0x8b));
  expect('response' in answer && answer.response).toHaveLength(1_024);
});

test('a binary body is returned byte for byte', async () => {
  expect(await post('odd-bytes')).toEqual({ failure: null, status: 200, response: Buffer.of(0xff, 0, 0xfe) });
});

test('an unsolicited answer is not taken for the next one', async () => {
  expect(await post('two-answers')).toEqual(answered(200));
  expect(await post('status/202')).toEqual(answered(202));
});

test('two Content-Length headers are a protocol error', async () => {
  expect(await post('broken-length')).toEqual({ failure: 'protocol', sent: true });
});

test('E10: a failure has nothing but its class', async () => {
  const answers = await Promise.all([post('reset'), post('not-http'), post('header/70000')]);
  for (const answer of answers) expect(Object.keys(answer).sort()).toEqual(['failure', 'sent']);
});

test('a signal aborts the attempt and is no failure of the receiver', async () => {
  const controller = new AbortController();
  const posted = post('hang', patient, controller.signal);
  await vi.waitFor(async () => expect((await receiver.report()).requests).toHaveLength(1), LONG_MS);
  controller.abort(new Error('the worker stops'));
  await expect(posted).rejects.toThrow('the worker stops');
  await expect(post('status/200', patient, controller.signal)).rejects.toThrow('the worker stops');
  expect((await receiver.report()).requests).toHaveLength(1);
});

test('a signal after the header keeps the acknowledgement', async () => {
  const controller = new AbortController();
  const posted = post('drip-body', patient, controller.signal);
  await vi.waitFor(async () => expect((await receiver.report()).requests).toHaveLength(1), LONG_MS);
  await new Promise((resolve) => setTimeout(resolve, 300));
  controller.abort();
  expect(await posted).toMatchObject({ failure: null, status: 200 });
});

test('an invalid header of ours throws', async () => {
  const broken = {
    url: receiver.url('status/200'),
    body: BODY,
    sandbox: true,
    headers: { 'X-A': 'a\r\nX-B: b' },
  };
  await expect(patient.post(broken)).rejects.toThrow('invalid X-A header');
  expect((await receiver.report()).requests).toEqual([]);
});

test('closing ends running attempts and refuses new ones', async () => {
  const outbound = createOutbound({ ca: receiver.ca, allow: parseNetworks('127.0.0.0/8') ?? [] });
  await post('status/200', outbound);
  const posted = [post('hang', outbound), post('hang', outbound)];
  const ended = Promise.allSettled(posted);
  await vi.waitFor(async () => expect((await receiver.report()).requests).toHaveLength(3), LONG_MS);
  outbound.close();
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(post('status/200', outbound)).rejects.toThrow('closed');
  await vi.waitFor(() => expect(outbound.size).toEqual({ open: 0, idle: 0, origins: 0 }), LONG_MS);
});

test('a process whose connections are idle can end', async () => {
  const { spawn } = await import('node:child_process');
  const folder = '../../packages/server/src/platform/outbound/';
  const moduleOf = (file: string) => JSON.stringify(new URL(folder + file, import.meta.url).href);
  const script = `
    import { createOutbound } from ${moduleOf('index.ts')};
    import { parseNetworks } from ${moduleOf('addresses.ts')};
    const outbound = createOutbound({ ca: process.env.CA, allow: parseNetworks('127.0.0.0/8'), idleMs: 29_000 });
    const request = { url: process.env.URL, headers: {}, body: Buffer.from('{}'), sandbox: true };
    process.stdout.write(String((await outbound.post(request)).status));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { CA: receiver.ca, URL: receiver.url('status/200') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(said).toBe('200');
});

test('no error reached the process as unhandled', () => expect(surprises).toEqual([]));
