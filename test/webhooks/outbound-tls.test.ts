import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import type { OutboundAnswer } from '../../packages/server/src/platform/outbound/exchange.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import type { Outbound } from '../../packages/server/src/platform/outbound/outbound.ts';
import { type Door, type HostileReceiver, startHostileReceiver } from './hostile-receiver.ts';

const LONG_MS = 30_000;
const SHORT_MS = 1_500;
/** A marker that would show in cleartext bytes at the receiver. */
const MARKER = 'marker-of-the-payload';
const LOOPBACK = parseNetworks('127.0.0.0/8,::1/128') ?? [];

let receiver: HostileReceiver;
let outbound: Outbound;

beforeAll(async () => {
  receiver = await startHostileReceiver();
  outbound = createOutbound({ ca: receiver.ca, allow: LOOPBACK });
});
afterAll(async () => {
  outbound.close();
  await receiver.stop();
});

async function post(url: string, by = outbound): Promise<OutboundAnswer> {
  return await by.post({ url, headers: { 'X-Marker': MARKER }, body: Buffer.from(MARKER), sandbox: true });
}

test.each([
  ['self-signed', 'tls'],
  ['other-authority', 'tls'],
  ['expired', 'tls'],
  ['not-yet-valid', 'tls'],
  ['wrong-name', 'tls'],
  ['old-tls', 'tls'],
  ['plain-http', 'tls'],
  ['cut-in-handshake', 'tls'],
  // The connection broke before TLS.
  ['reset-after-hello', 'connection'],
  ['reset-at-accept', 'connection'],
  ['close-at-accept', 'connection'],
] as const)(
  'E4, fault 40: a receiver that is %s fails as %s, and no payload is sent',
  async (door, failure) => {
    await receiver.forget();
    // One address, so that one connection is all there may be.
    expect(await post(receiver.url('status/200', door, '127.0.0.1'))).toEqual({ failure, sent: false });
    const { requests, connections, raw } = await receiver.report();
    expect(requests).toEqual([]);
    expect(connections).toEqual({ [door]: 1 });
    expect(Object.values(raw).join('')).not.toContain(MARKER);
    await vi.waitFor(() => expect(outbound.size.open).toBe(0), LONG_MS);
  },
);

test('E4, fault 40: an unanswered handshake ends with the timeout, and no payload is sent', async () => {
  await receiver.forget();
  const hasty = createOutbound({ ca: receiver.ca, allow: LOOPBACK, timeoutMs: SHORT_MS });
  expect(await post(receiver.url('status/200', 'silent'), hasty)).toEqual({
    failure: 'timeout',
    sent: false,
  });
  const { raw, requests } = await receiver.report();
  expect(requests).toEqual([]);
  expect(raw.silent).not.toContain(MARKER);
  await vi.waitFor(async () => expect((await receiver.report()).open).toBe(0), LONG_MS);
  hasty.close();
});

test.each<[Door, string]>([
  ['good', 'localhost'],
  ['good', 'shop.localhost'],
  ['good', 'localhost.'],
  ['good', '127.0.0.1'],
  ['tls-1.2', 'localhost'],
])('E4: %s is trusted as %s', async (door, host) => {
  expect(await post(receiver.url('status/200', door, host))).toMatchObject({ failure: null, status: 200 });
});

const V6 = Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === '::1'));

test.each(['127.0.0.3', ...(V6 ? ['[::1]'] : []), 'a.b.localhost'])(
  'E4: the certificate does not name %s',
  async (host) => {
    expect(await post(receiver.url('status/200', 'good', host))).toEqual({ failure: 'tls', sent: false });
  },
);

test('closing ends connecting attempts, without anything sent', async () => {
  await receiver.forget();
  const closing = createOutbound({ ca: receiver.ca, allow: LOOPBACK });
  const posted = Promise.allSettled([post(receiver.url('status/200', 'silent', '127.0.0.1'), closing)]);
  await vi.waitFor(async () => expect((await receiver.report()).raw.silent).toBeDefined(), LONG_MS);
  closing.close();
  expect((await posted)[0]).toMatchObject({ status: 'rejected', reason: new Error('outbound is closed') });
  await vi.waitFor(async () => expect((await receiver.report()).open).toBe(0), LONG_MS);
});

test('E4: the old receiver does answer a client with TLS 1.1', async () => {
  const old = connect({
    port: receiver.ports['old-tls'],
    ca: receiver.ca,
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  await once(old, 'secureConnect');
  expect(old.getProtocol()).toBe('TLSv1.1');
  old.destroy();
});

test('E4: an authority is trusted only where it was configured', async () => {
  const plain = createOutbound({ allow: LOOPBACK });
  expect(await post(receiver.url('status/200'), plain)).toEqual({ failure: 'tls', sent: false });
  plain.close();
});

test('E4: the environment cannot turn the check of certificates off', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  expect(await post(receiver.url('status/200', 'self-signed'))).toEqual({ failure: 'tls', sent: false });
  vi.unstubAllEnvs();
});
