import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import type { OutboundAnswer } from '../../packages/server/src/platform/outbound/exchange.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import type { Outbound, OutboundOptions } from '../../packages/server/src/platform/outbound/outbound.ts';
import { scaled } from '../scale.ts';
import { type HostileReceiver, startHostileReceiver } from './hostile-receiver.ts';
import { type StubDns, startStubDns } from './stub-dns.ts';

const LONG_MS = 30_000;
const EMPTY = { open: 0, idle: 0, origins: 0 };

let receiver: HostileReceiver;
let dns: StubDns;
const opened: Outbound[] = [];

beforeAll(async () => {
  receiver = await startHostileReceiver();
  dns = await startStubDns((_name, _nth, kind) => (kind === 'A' ? ['127.0.0.1'] : []));
});
afterEach(async () => {
  for (const outbound of opened.splice(0)) outbound.close();
  await vi.waitFor(assertNothingOpen, LONG_MS);
  await receiver.forget();
});
afterAll(async () => {
  dns.stop();
  await receiver.stop();
});

async function assertNothingOpen(): Promise<void> {
  assert.equal((await receiver.report()).open, 0);
}

function open(options: OutboundOptions = {}): Outbound {
  const allow = parseNetworks('127.0.0.0/8') ?? [];
  const outbound = createOutbound({ ca: receiver.ca, allow, resolver: dns.resolver, ...options });
  opened.push(outbound);
  return outbound;
}

async function post(
  outbound: Outbound,
  behaviour = 'status/200',
  host = 'localhost',
): Promise<OutboundAnswer> {
  const url = receiver.url(behaviour, 'good', host);
  return await outbound.post({ url, headers: {}, body: Buffer.from('{}'), sandbox: true });
}

const FINE = { failure: null, status: 200 };

/** The numbers of the connections over which the requests came. */
async function connectionsUsed(): Promise<number[]> {
  return (await receiver.report()).requests.map(({ connection }) => connection);
}

test('sequential requests share one connection, concurrent ones use several', async () => {
  const outbound = open();
  for (let i = 0; i < 5; i++) expect(await post(outbound)).toMatchObject(FINE);
  expect(new Set(await connectionsUsed()).size).toBe(1);
  await Promise.all(Array.from({ length: 8 }, () => post(outbound)));
  expect(new Set(await connectionsUsed()).size).toBe(8);
  expect(outbound.size).toEqual({ open: 8, idle: 8, origins: 1 });
});

test('an idle connection that its receiver closed is not used, whatever the receiver announced', async () => {
  const outbound = open();
  for (const behaviour of ['answer-and-close', 'answer-and-reset', 'no-keep-alive']) {
    for (let i = 0; i < 3; i++) {
      expect(await post(outbound, behaviour)).toMatchObject(FINE);
      await vi.waitFor(async () => expect((await receiver.report()).open).toBe(0), LONG_MS);
      expect(await post(outbound)).toMatchObject(FINE);
    }
  }
  expect((await receiver.report()).requests).toHaveLength(18);
});

test('a connection that turns out closed as the next request is due is replaced by another one', async () => {
  const outbound = open();
  expect(await post(outbound, 'answer-and-close-later')).toMatchObject(FINE);
  expect(outbound.size.idle).toBe(1);
  // This process sees nothing of the end, which arrives meanwhile.
  for (const until = performance.now() + 500; performance.now() < until; );
  const posted = post(outbound);
  expect(outbound.size.idle).toBe(0);
  expect(await posted).toMatchObject(FINE);
  expect((await receiver.report()).requests).toHaveLength(2);
});

test('a connection that breaks with the request on it is a failure: the request is not sent again', async () => {
  const outbound = open();
  expect(await post(outbound)).toMatchObject(FINE);
  expect(await post(outbound, 'reset')).toEqual({ failure: 'connection', sent: true });
  expect((await receiver.report()).requests).toHaveLength(2);
});

test('nothing stays open, whatever the outcome of the attempt', async () => {
  const outbound = open();
  for (const behaviour of ['reset', 'close-in-body', 'header/70000', 'no-keep-alive', 'endless-body']) {
    await post(outbound, behaviour);
  }
  for (const door of ['self-signed', 'cut-in-handshake', 'reset-at-accept'] as const) {
    const url = receiver.url('status/200', door);
    const answer = await outbound.post({ url, headers: {}, body: Buffer.from('{}'), sandbox: true });
    expect(answer).toMatchObject({ sent: false });
  }
  await vi.waitFor(() => expect(outbound.size).toEqual(EMPTY), LONG_MS);
});

const HANGING = scaled(1_000, 100);

test(`E5: beside ${HANGING} posts that hang at the same origin others are answered`, async () => {
  const outbound = open();
  const hanging = Promise.allSettled(Array.from({ length: HANGING }, () => post(outbound, 'hang')));
  await vi.waitFor(async () => expect((await receiver.report()).requests).toHaveLength(HANGING), LONG_MS);
  for (let i = 0; i < 20; i++) expect(await post(outbound)).toMatchObject(FINE);
  expect(outbound.size.open).toBe(HANGING + 1);
  outbound.close();
  expect((await hanging).every(({ status }) => status === 'rejected')).toBe(true);
  await vi.waitFor(() => expect(outbound.size).toEqual(EMPTY), LONG_MS);
});

test('no more idle connections to one origin are kept than allowed', async () => {
  const outbound = open({ idlePerOrigin: 3 });
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(outbound)));
  expect(answers.filter(({ failure }) => failure !== null)).toEqual([]);
  await vi.waitFor(() => expect(outbound.size).toEqual({ open: 3, idle: 3, origins: 1 }), LONG_MS);
});

test('idle connections are bounded over all origins: the oldest goes first', async () => {
  const outbound = open({ idleInAll: 3 });
  for (let i = 0; i < 10; i++)
    expect(await post(outbound, 'status/200', `s${i}.hook.test`)).toMatchObject(FINE);
  await vi.waitFor(() => expect(outbound.size).toEqual({ open: 3, idle: 3, origins: 3 }), LONG_MS);
  await receiver.forget();
  for (let i = 7; i < 10; i++) await post(outbound, 'status/200', `s${i}.hook.test`);
  expect((await receiver.report()).connections).toEqual({});
});

test('an unused origin is dropped', async () => {
  const outbound = open({ idleMs: 200 });
  for (let i = 0; i < 20; i++) await post(outbound, 'status/200', `s${i}.hook.test`);
  await vi.waitFor(() => expect(outbound.size).toEqual(EMPTY), LONG_MS);
  await Promise.all(Array.from({ length: 20 }, (_, i) => post(outbound, 'reset', `s${i}.hook.test`)));
  await vi.waitFor(() => expect(outbound.size).toEqual(EMPTY), LONG_MS);
});

test('merchants of the two modes share no connection', async () => {
  const outbound = open();
  await post(outbound);
  const url = receiver.url('status/200');
  const answer = await outbound.post({ url, headers: {}, body: Buffer.from('{}'), sandbox: false });
  expect(answer).toEqual({ failure: 'address_denied', sent: false });
  expect(await connectionsUsed()).toHaveLength(1);
});
