import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { idText } from './check-batches.ts';
import { World } from './world.ts';

const DEAD = scaled(1_000, 100);
/** News at this pace for so long: every event goes to every endpoint. */
const NEWS = scaled(40, 20);
const NEWS_EVERY_MS = scaled(3_000, 500);
/** What the design asks for; a shared machine that compiles beside it may take longer in a short run. */
const HEALTHY_P95_MS = scaled(5_000, 60_000);
const POLL = { timeout: 120_000, interval: 50 };
/** Attempts of one process under way at once, idle connections, and what the process itself has open. */
const HANDLES_MAX = 2_000 + 500 + 200;
const GROWTH_MAX_BYTES = 500_000_000;

/** Ways of not answering, some at once and some never. */
const WAYS = ['hang', 'silent', 'hang', 'refused', 'reset', 'status/503'] as const;

let world: World;
let healthy: string;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1, receive: 'status/200' });
  const [first] = await world.database.query<{ endpoint_id: string }>(
    'select endpoint_id from webhook_endpoint',
  );
  healthy = first?.endpoint_id ?? '';
  const ports = new URL(world.receiver.url(''));
  for (let i = 0; i < DEAD; i++) {
    const way = WAYS[i % WAYS.length];
    if (way === 'silent') await world.addEndpoint({ url: world.receiver.url('', 'silent') });
    else if (way === 'refused') await world.addEndpoint({ url: `https://${ports.hostname}:1/` });
    else await world.addEndpoint(way ?? '');
  }
}, 120_000);
afterAll(() => world?.close());

const memoryOf = (pid: number) =>
  1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
const handlesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Milliseconds from the record of each event to its arrival at the healthy endpoint. */
async function delays(): Promise<number[]> {
  const recorded = await world.database.query<{ event_id: string; at: string }>(
    'select event_id, recorded_at_ms as at from event',
  );
  const came = new Map(
    (await world.received(healthy)).map((request) => [request.headers['x-service-event-id'], request.atMs]),
  );
  return recorded.flatMap(({ event_id, at }) => {
    const atMs = came.get(`evt_${idText(event_id)}`);
    return atMs === undefined ? [] : [atMs - Number(at)];
  });
}

test(`fault 38, E5: beside ${DEAD} endpoints that hang or are dead a healthy one is served at once, and the worker stays small`, {
  timeout: 600_000,
}, async () => {
  const { pid } = world.worker;
  const before = { memory: memoryOf(pid), handles: handlesOf(pid) };
  const most = { ...before };
  for (let i = 0; i < NEWS; i++) {
    await world.merchant.create(world.items('erc20', 1));
    most.memory = Math.max(most.memory, memoryOf(pid));
    most.handles = Math.max(most.handles, handlesOf(pid));
    await sleep(NEWS_EVERY_MS);
  }
  await expect.poll(async () => (await delays()).length, POLL).toBe(NEWS);
  const sorted = (await delays()).toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
  console.log(
    `beside ${DEAD} dead endpoints: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms; ` +
      `the worker had ${most.handles} handles (${before.handles}) and ${Math.round(most.memory / 1e6)} MB (${Math.round(before.memory / 1e6)})`,
  );
  expect(at(0.95)).toBeLessThan(HEALTHY_P95_MS);
  expect(most.handles).toBeLessThan(HANDLES_MAX);
  expect(most.memory - before.memory).toBeLessThan(GROWTH_MAX_BYTES);
  expect(world.worker.surprises).toEqual([]);
});
