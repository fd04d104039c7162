import { type Delivery, webhooks } from '@florin/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import type { Outbound } from '../../packages/server/src/platform/outbound/outbound.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { recordDialled } from '../webhooks/dialled.ts';
import { makeEvent, until } from '../webhooks/endpoints.ts';
import { ATTEMPTS_MAX, answerFor, HOSTILE_CASES, type HostileCase } from '../webhooks/hostile-cases.ts';
import {
  type HostileReceiver,
  type ReceivedRequest,
  startHostileReceiver,
} from '../webhooks/hostile-receiver.ts';
import { type StubDns, startStubDns } from '../webhooks/stub-dns.ts';

/** Of an attempt whose time runs out, before or after the header. */
const HASTY_MS = scaled(30_000, 1_000);
const DRIPPING_MS = scaled(30_000, 8_000);
/** Of all others, so that a slow machine ends none of them. */
const PATIENT_MS = 30_000;
const MINUTE = 60;
const RECEIVER_HEADERS = [
  'host',
  'connection',
  'content-length',
  'content-type',
  'user-agent',
  'x-service-signature',
  'x-service-timestamp',
  'x-service-nonce',
  'x-service-event-type',
  'x-service-event-id',
];
/** Words of an error's text, and addresses that are nobody's business. */
const INTERNALS =
  /\bE[A-Z]{5,}\b|[Ee]rror|certificate|undici|node:|127\.0\.0|10\.0\.0|169\.254|\.test\b|secret/;

let receiver: HostileReceiver;
let dns: StubDns;
let service: TestService;
let merchant: TestMerchant;
/** By how long their attempts may take. */
let outbounds: Map<number, Outbound>;
/** By URL: the attempts that say their request was sent. */
const sent = new Map<string, number>();
const surprises: unknown[] = [];
const onSurprise = (error: unknown) => surprises.push(error);

/** A case with the endpoint that was made for it. */
interface Placed extends HostileCase {
  endpointId: string;
  url: string;
}
const placed: Placed[] = [];

function urlOf({ behaviour, door, host, port }: HostileCase, index: number): string {
  // A host of each one's own: none is served over the connection that another one has spoilt.
  const name = host.replace('*', `case${index}`);
  return `https://${name}:${port ?? receiver.ports[door]}/${behaviour}?case=${index}`;
}

function timeoutOf({ behaviour, outcomes }: HostileCase): number {
  if (behaviour === 'drip-body') return DRIPPING_MS;
  return outcomes[0] === 'timeout' ? HASTY_MS : PATIENT_MS;
}

beforeAll(async () => {
  process.on('uncaughtException', onSurprise).on('unhandledRejection', onSurprise);
  receiver = await startHostileReceiver();
  dns = await startStubDns(answerFor);
  const options = {
    ca: receiver.ca,
    resolver: dns.resolver,
    allow: parseNetworks('127.0.0.0/8') ?? [],
  };
  const allTimes = new Set(HOSTILE_CASES.map(timeoutOf));
  outbounds = new Map(
    [...allTimes].map((timeoutMs) => [timeoutMs, createOutbound({ ...options, timeoutMs })]),
  );
  const byUrl = new Map(
    HOSTILE_CASES.map((one, index) => [urlOf(one, index), outbounds.get(timeoutOf(one))]),
  );
  service = await startService({
    worker: true,
    receive: async (request) => {
      const outbound = byUrl.get(request.url);
      if (outbound === undefined) throw new Error(`nobody is at ${request.url}`);
      const answer = await outbound.post(request);
      if (answer.failure === null || answer.sent) sent.set(request.url, (sent.get(request.url) ?? 0) + 1);
      return answer;
    },
  });
  merchant = await service.createMerchant();
  for (const [index, one] of HOSTILE_CASES.entries()) {
    const url = urlOf(one, index);
    const endpoint = await merchant.sdk.webhookEndpoints.create({ url, types: ['payout_batch.updated'] });
    placed.push({ ...one, endpointId: endpoint.id, url: endpoint.url });
  }
});
afterAll(async () => {
  process.off('uncaughtException', onSurprise).off('unhandledRejection', onSurprise);
  await service.stop();
  for (const outbound of outbounds.values()) outbound.close();
  dns.stop();
  await receiver.stop();
});

let seen = 0;

/** What came since the last call, each of it verified as a merchant does, while its stamp is fresh. */
async function newRequests(): Promise<readonly ReceivedRequest[]> {
  const { requests } = await receiver.report();
  const fresh = requests.slice(seen);
  seen = requests.length;
  for (const { body, headers } of fresh) {
    expect(Object.keys(headers).toSorted()).toEqual(RECEIVER_HEADERS.toSorted());
    webhooks.verify(Buffer.from(body), headers, merchant.secretKey);
  }
  return fresh;
}

/** All deliveries as their merchant sees them, each with its case. */
async function deliveries(): Promise<{ own: Placed; shown: Delivery }[]> {
  const all: { own: Placed; shown: Delivery }[] = [];
  for await (const shown of merchant.sdk.deliveries.list({ limit: 100 })) {
    const own = placed.find(({ endpointId }) => endpointId === shown.endpoint_id);
    if (own === undefined) throw new Error('a delivery to no endpoint of these');
    all.push({ own, shown });
  }
  return all;
}

const outcomeOf = ({ status_code, failure }: Delivery['attempts'][number]) => status_code ?? failure;

/** The attempts that are to have been made when no more than `rounds` of them could be. */
const expectedBy = (rounds: number, { outcomes }: HostileCase) => outcomes.slice(0, rounds);

test(`fault 37, E4 to E7, E10: ${HOSTILE_CASES.length} receivers through all ten retries: each ends as listed`, {
  timeout: ATTEMPTS_MAX * (HASTY_MS + 60_000),
}, async () => {
  const dialled = recordDialled();
  await makeEvent(merchant);
  const came: ReceivedRequest[] = [];
  for (let round = 1; round <= ATTEMPTS_MAX; round++) {
    await until(`round ${round} is over`, async () => {
      const all = await deliveries();
      const isMade = ({ own, shown }: (typeof all)[number]) =>
        shown.attempts.length >= expectedBy(round, own).length;
      return all.length === placed.length && all.every(isMade);
    });
    for (const { own, shown } of await deliveries()) {
      const isOver = own.outcomes.length <= round;
      const name = `${own.door} ${own.behaviour} ${own.host}, round ${round}`;
      expect(shown.attempts.map(outcomeOf), name).toEqual(expectedBy(round, own));
      expect(shown.status, name).toBe(isOver ? own.ends : 'pending');
      const last = shown.attempts.at(-1)?.at ?? 0;
      expect(shown.next_attempt_at, name).toBe(isOver ? null : last + 2 ** round * MINUTE);
    }
    came.push(...(await newRequests()));
    if (round === ATTEMPTS_MAX) break;
    await merchant.sdk.testHelpers.advanceClock(2 ** round * MINUTE);
  }
  dialled.stop();
  await checkCaptures(came);
  for (const { own, shown } of await deliveries()) {
    checkSchedule(shown);
    const responses = shown.attempts.map(({ response }) => response ?? '').join('\n');
    expect(JSON.stringify(shown.attempts), own.behaviour).not.toMatch(INTERNALS);
    expect(responses.length).toBeLessThanOrEqual(ATTEMPTS_MAX * 1_024);
  }
  expect(dialled.addresses.filter((address) => !address.startsWith('127.'))).toEqual([]);
  expect(surprises).toEqual([]);
});

/** No attempt came before it was due, by the merchant's clock. */
function checkSchedule({ attempts }: Delivery): void {
  for (const [n, { at }] of attempts.slice(1).entries()) {
    expect(at).toBeGreaterThanOrEqual((attempts[n]?.at ?? 0) + 2 ** (n + 1) * MINUTE);
  }
}

/** The same id and bytes each time; stamp, nonce and signature of each one's own; nothing to whom it must not go. */
async function checkCaptures(came: readonly ReceivedRequest[]): Promise<void> {
  const byCase = Map.groupBy(came, ({ path }) => path.split('?case=')[1]);
  for (const [index, own] of placed.entries()) {
    const requests = byCase.get(String(index)) ?? [];
    expect(requests.length, own.url).toBe(sent.get(own.url) ?? 0);
    // The time of a hasty attempt also runs while it connects: a busy machine may use it up before the request is sent.
    const least = own.outcomes[0] === 'timeout' ? 1 : own.outcomes.length;
    if (!isReached(own)) expect(requests, own.url).toEqual([]);
    else expect(requests.length, own.url).toBeGreaterThanOrEqual(least);
  }
  const [first] = came;
  for (const { body, headers } of came) {
    expect(body).toBe(first?.body);
    expect(headers['x-service-event-id']).toBe(first?.headers['x-service-event-id']);
  }
  for (const header of ['x-service-nonce', 'x-service-signature'])
    expect(new Set(came.map(({ headers }) => headers[header])).size).toBe(came.length);
  // What was sent to whoever speaks no TLS holds nothing of it.
  const { raw } = await receiver.report();
  expect(Object.values(raw).join('')).not.toContain('payout_batch');
}

const isReached = ({ door, host, port }: HostileCase) =>
  host === '*.hook.test' && port === undefined && (door === 'good' || door === 'tls-1.2');

test('fault 37, I12: nothing of all these is left open', async () => {
  for (const outbound of outbounds.values())
    await until('connections are closed', () => outbound.size.open === 0);
  await until('the receiver sees them closed', async () => (await receiver.report()).open === 0);
  expect(surprises).toEqual([]);
});
