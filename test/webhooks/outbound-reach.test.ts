import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import type { OutboundAnswer } from '../../packages/server/src/platform/outbound/exchange.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import type { Outbound } from '../../packages/server/src/platform/outbound/outbound.ts';
import { type CallbackUrlCase, callbackUrls, ipAddresses } from '../own-cases/outbound.ts';
import { scaled } from '../scale.ts';
import { recordDialled } from './dialled.ts';
import { type HostileReceiver, startHostileReceiver } from './hostile-receiver.ts';
import { type Answer, type StubDns, startStubDns, type Zone } from './stub-dns.ts';

/** A stand-in for a public address, as tests never dial a real one; no other address is allowed. */
const PUBLIC = '127.0.0.2';
const ONLY_PUBLIC = parseNetworks(PUBLIC) ?? [];
const SHORT_MS = 1_500;
const BODY = Buffer.from('{}');

let receiver: HostileReceiver;
let zone: Zone = () => 'NXDOMAIN';
let dns: StubDns;
let dialled: ReturnType<typeof recordDialled>;
/** Allows public addresses only, for attempts that must be refused. */
let shut: Outbound;
const opened: Outbound[] = [];
const surprises: unknown[] = [];
const onSurprise = (error: unknown) => surprises.push(error);

beforeAll(async () => {
  receiver = await startHostileReceiver();
  dns = await startStubDns((name, nth, kind) => zone(name, nth, kind));
  shut = createOutbound({ resolver: dns.resolver });
  process.on('uncaughtException', onSurprise).on('unhandledRejection', onSurprise);
});
beforeEach(async () => {
  await receiver.forget();
  dialled = recordDialled();
});
afterEach(() => {
  dialled.stop();
  for (const outbound of opened.splice(0)) outbound.close();
});
afterAll(async () => {
  process.off('uncaughtException', onSurprise).off('unhandledRejection', onSurprise);
  shut.close();
  dns.stop();
  await receiver.stop();
});

function open(options: Parameters<typeof createOutbound>[0] = {}): Outbound {
  const outbound = createOutbound({
    ca: receiver.ca,
    resolver: dns.resolver,
    allow: ONLY_PUBLIC,
    ...options,
  });
  opened.push(outbound);
  return outbound;
}

async function post(url: string, outbound = open(), sandbox = true): Promise<OutboundAnswer> {
  return await outbound.post({ url, headers: {}, body: BODY, sandbox });
}

/** A URL at the receiver's port, so that a connection that gets through is seen. */
function at(host: string): string {
  return receiver.url('status/200', 'good', host);
}

const DENIED = { failure: 'address_denied', sent: false };
const NO_NAME = { failure: 'dns', sent: false };
const FINE = { failure: null, status: 200 };

async function expectUntouched(): Promise<void> {
  expect(dialled.addresses).toEqual([]);
  expect((await receiver.report()).connections).toEqual({});
}

describe('bad inputs', () => {
  const rows = callbackUrls();
  const plain = rows.filter((row) => row.dns === undefined);
  const named = rows.filter((row) => row.dns !== undefined && !row.url.includes('redir'));

  /** The answers of a case for its name, with the stand-in for the public address it uses. */
  function answersOf(said: NonNullable<CallbackUrlCase['dns']>): Answer[] {
    return said.map((one): Answer => {
      if (typeof one !== 'string') return one.map((a) => (a === '93.184.216.34' ? PUBLIC : a));
      const [word, cname = ''] = one.split(' ');
      if (word === 'CNAME') return { cname, addresses: ['169.254.169.254'] };
      return one as Answer;
    });
  }

  test.each(plain)('E1, fault 33: no connection to $url ($why)', async ({ url }) => {
    zone = () => ['10.0.0.7'];
    const withPort = url.replace(
      /^(https:\/\/[^/?#\\@: ]*|https:\/\/\[[^\]]*\])(?=[/]|$)/i,
      `$1:${receiver.ports.good}`,
    );
    for (const text of [url, withPort]) {
      for (const sandbox of [true, false]) {
        expect(await post(text, shut, sandbox)).toEqual(DENIED);
      }
    }
    await expectUntouched();
  });

  test.each(named)(
    'E2, faults 33, 35: no connection to an inner address: $why',
    async ({ url, dns: said = [] }) => {
      const answers = answersOf(said);
      zone = (_name, nth) => answers[Math.min(nth, answers.length) - 1] ?? 'NXDOMAIN';
      const outbound = open({ timeoutMs: SHORT_MS });
      const host = new URL(url).hostname;
      const results: OutboundAnswer[] = [];
      for (let attempt = 0; attempt < answers.length; attempt++) {
        results.push(await post(receiver.url('no-keep-alive', 'good', host), outbound));
      }
      for (const [index, result] of results.entries()) {
        const answer = answers[index];
        const isPublic = Array.isArray(answer) && answer.every((address) => address === PUBLIC);
        if (!isPublic)
          expect(result).toMatchObject({ failure: expect.stringMatching(/^(address_denied|dns|timeout)$/) });
      }
      expect(dialled.addresses.filter((address) => address !== PUBLIC)).toEqual([]);
    },
  );

  const denied = ipAddresses()
    .filter((row) => row.expect === 'deny')
    .map(({ ip }) => ip);
  test.each(denied)('E1, fault 34: %s is not dialled, as a literal or as an answer', async (ip) => {
    if (!ip.includes('%')) {
      zone = () => [ip];
      expect(await post(at('inner.hook.test'), shut)).toEqual(DENIED);
    }
    expect(await post(at(ip.includes(':') ? `[${ip}]` : ip), shut)).toEqual(DENIED);
    await expectUntouched();
  });
});

test('E2: the resolved and checked address is dialled, and TLS uses the host name', async () => {
  zone = () => [PUBLIC];
  expect(await post(at('shop.hook.test'))).toMatchObject(FINE);
  expect(dialled.addresses).toEqual([PUBLIC]);
  const { requests } = await receiver.report();
  expect(requests[0]?.headers.host).toBe(`shop.hook.test:${receiver.ports.good}`);
  expect(dns.questions.filter((question) => question.endsWith('shop.hook.test'))).toHaveLength(2);
});

test('E2: a name is resolved for each connection, and not for each request', async () => {
  zone = () => [PUBLIC];
  const outbound = open();
  await post(at('again.hook.test'), outbound);
  await post(at('again.hook.test'), outbound);
  expect(dns.questions.filter((question) => question.endsWith('again.hook.test'))).toHaveLength(2);
  await outbound.post({
    url: receiver.url('no-keep-alive', 'good', 'again.hook.test'),
    headers: {},
    body: BODY,
    sandbox: true,
  });
  zone = () => ['10.0.0.7'];
  expect(await post(at('again.hook.test'), outbound)).toEqual(DENIED);
  expect(dialled.addresses).toEqual([PUBLIC]);
});

test.each<[string, Answer]>([
  ['first', ['10.0.0.7', PUBLIC]],
  ['last', [PUBLIC, PUBLIC, '169.254.169.254']],
  ['of the other kind', [PUBLIC, 'fd00::7']],
  ['mapped', [PUBLIC, '::ffff:7f00:2']],
  ['behind another name', { cname: 'inner.test', addresses: [PUBLIC, '192.168.1.1'] }],
])('E2, fault 35: one inner address among the answers, %s, refuses the attempt', async (_where, answer) => {
  zone = () => answer;
  expect(await post(at('mixed.hook.test'))).toEqual(DENIED);
  await expectUntouched();
});

test.each<Answer>(['SERVFAIL', 'REFUSED', 'NXDOMAIN', []])(
  'E2, fault 35: a resolver that answers %j is a failure of the name',
  async (answer) => {
    zone = () => answer;
    expect(await post(at('none.hook.test'))).toEqual(NO_NAME);
    await expectUntouched();
  },
);

test.each<Answer>(['SERVFAIL', 'TIMEOUT', 'GARBAGE'])(
  'E2, fault 35: half an answer, the other half %j, is none: nothing is dialled',
  async (answer) => {
    zone = (_name, _nth, kind) => (kind === 'A' ? [PUBLIC] : answer);
    const result = await post(at('half.hook.test'), open({ timeoutMs: SHORT_MS }));
    expect(result).toMatchObject({ failure: expect.stringMatching(/^(dns|timeout)$/), sent: false });
    await expectUntouched();
  },
);

test('E2, fault 35: a silent resolver ends with the timeout', async () => {
  zone = () => 'TIMEOUT';
  const result = await post(at('silent.hook.test'), open({ timeoutMs: SHORT_MS }));
  expect(result).toEqual({ failure: 'timeout', sent: false });
  await expectUntouched();
});

test('E2: a missing resolver is a dns failure', async () => {
  const result = await post(at('gone.hook.test'), open({ resolver: '127.0.0.1:1', timeoutMs: SHORT_MS }));
  expect(result).toMatchObject({ failure: expect.stringMatching(/^(dns|timeout)$/), sent: false });
  await expectUntouched();
});

test(`E2, fault 35: ${scaled(1_000, 40)} runs of rebinding, TTL 0: no connection to an inner address`, async () => {
  const inner = ['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', '::ffff:10.0.0.7'];
  let asked = 0;
  zone = (_name, _nth, kind) => {
    asked++;
    if (asked % 3 === 0) return [inner[asked % inner.length] ?? '10.0.0.7'];
    return kind === 'A' ? [PUBLIC] : [];
  };
  const outbound = open();
  const counts = { fine: 0, denied: 0, other: 0 };
  for (let run = 0; run < scaled(1_000, 40); run++) {
    const answer = await outbound.post({
      url: receiver.url('no-keep-alive', 'good', `run${run % 7}.hook.test`),
      headers: {},
      body: BODY,
      sandbox: run % 2 === 0,
    });
    if (answer.failure === null) counts.fine++;
    else if (answer.failure === 'address_denied') counts.denied++;
    else counts.other++;
  }
  expect(dialled.addresses.filter((address) => address !== PUBLIC)).toEqual([]);
  expect(counts.denied).toBeGreaterThan(0);
  // 127.0.0.2 is loopback, which serves merchants of the sandbox only: half of the runs could get through.
  expect(counts.fine).toBeGreaterThan(0);
});

test('E1: a loopback network of the allow list serves merchants of the sandbox only', async () => {
  zone = () => [PUBLIC];
  const outbound = open({ allow: parseNetworks('127.0.0.0/8,::1/128') ?? [] });
  for (const host of [PUBLIC, 'localhost', 'LOCALHOST.', 'shop.localhost', 'shop.hook.test']) {
    expect(await post(at(host), outbound)).toMatchObject(FINE);
    expect(await post(at(host), outbound, false)).toEqual(DENIED);
  }
  expect((await receiver.report()).requests).toHaveLength(5);
});

test('E1: names under localhost are not resolved, and one allowed loopback address is enough', async () => {
  zone = () => [PUBLIC];
  for (const network of ['127.0.0.0/8', '127.0.0.1', '127.0.0.1,::1']) {
    const outbound = open({ allow: parseNetworks(network) ?? [] });
    for (const host of ['localhost', 'shop.localhost', 'shop.localhost.']) {
      expect(await post(at(host), outbound)).toMatchObject(FINE);
    }
  }
  expect(await post(at('localhost'), shut)).toEqual(DENIED);
  expect(dns.questions.filter((question) => /[ .]localhost$/.test(question))).toEqual([]);
});

test('an address that refuses is followed by the next one', async () => {
  // The receiver listens on every address of this machine but none of these.
  zone = (_name, _nth, kind) => (kind === 'A' ? ['255.255.255.255', '127.0.0.2'] : []);
  const outbound = open({ allow: parseNetworks('255.255.255.255,127.0.0.2') ?? [] });
  expect(await post(at('two.hook.test'), outbound)).toMatchObject(FINE);
  expect(dialled.addresses).toEqual(['255.255.255.255', '127.0.0.2']);
});

test('a closed port is a connection failure, and nothing is sent', async () => {
  zone = () => [PUBLIC, PUBLIC];
  expect(await post('https://closed.hook.test:1/h')).toEqual({ failure: 'connection', sent: false });
  expect(dialled.addresses).toEqual([PUBLIC, PUBLIC]);
});

test('an unreachable network is a failure and no exception of the process', async () => {
  const everywhere = parseNetworks('255.255.255.255,fe80::/10') ?? [];
  zone = (_name, _nth, kind) => (kind === 'A' ? ['255.255.255.255'] : []);
  const outbound = open({ allow: everywhere, timeoutMs: SHORT_MS });
  for (const host of ['255.255.255.255', 'nowhere.hook.test', '[fe80::dead:beef]']) {
    const result = await post(at(host), outbound);
    expect(result).toMatchObject({ failure: expect.stringMatching(/^(connection|timeout)$/), sent: false });
  }
});

test("the system's hosts file is read, and checked like any other answer", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-hosts-'));
  const hostsFile = path.join(folder, 'hosts');
  writeFileSync(
    hostsFile,
    `# of a test\n${PUBLIC}\tshop.hook.test  Other.Hook.Test # both\n10.0.0.7 inner.hook.test\n`,
  );
  const outbound = open({ resolver: undefined, hostsFile });
  expect(await post(at('shop.hook.test'), outbound)).toMatchObject(FINE);
  expect(await post(at('other.hook.test'), outbound)).toMatchObject(FINE);
  expect(await post(at('inner.hook.test'), outbound)).toEqual(DENIED);
  rmSync(folder, { recursive: true });
});

test('a configured resolver replaces the hosts file too', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-hosts-'));
  const hostsFile = path.join(folder, 'hosts');
  writeFileSync(hostsFile, `${PUBLIC} shop.hook.test\n`);
  zone = () => 'NXDOMAIN';
  expect(await post(at('shop.hook.test'), open({ hostsFile }))).toEqual(NO_NAME);
  rmSync(folder, { recursive: true });
});

test('no error reached the process as unhandled', () => expect(surprises).toEqual([]));
