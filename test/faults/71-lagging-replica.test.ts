import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaveBehind, moved, openBatches, openWorld, POLL, submit } from './cluster-copies.ts';
import { Replica } from './replica.ts';
import { NETWORKS, type World } from './world.ts';

// The database is lost together with commits that the chains have already seen the effects of.

let world: World;
let replica: Replica;

beforeAll(async () => {
  world = await openWorld();
  replica = await Replica.of(world, false);
}, 180_000);
afterAll(async () => {
  await world?.close();
  await replica?.close();
});

/** Networks of which a worker said that their transfers wait, each once a minute. */
const held = (): string[] => {
  const lines = world.workers.flatMap(({ log }) => log).filter((line) => line.includes('HistoryChanged'));
  return [...new Set(lines.map((line) => String(JSON.parse(line).network)))].toSorted();
};

test('fault 71: a replica that lacks what was sent takes over: payouts stop, nothing is paid twice, and the books say what is missing', {
  timeout: 600_000,
}, async () => {
  // The replica knows of one batch on each network what it shall pay, and of one more that it was about to be signed.
  const { worker, known, unknown: lost } = await leaveBehind(world, replica, NETWORKS);
  worker.signal('SIGCONT');
  await expect.poll(() => openBatches(world, lost), POLL).toBe(0);
  const paid = await moved(world);
  expect(paid).toHaveLength(2 * (known.length + lost.length));

  await world.killDatabase();
  await replica.promote();
  await (await world.addNode('work')).start();
  await expect.poll(held, POLL).toEqual(NETWORKS.toSorted());
  const later = await submit(world, 'erc20');
  expect(await openBatches(world, [...lost, later])).toBe(lost.length + 1);
  expect(await moved(world)).toEqual(paid);
  expect(paid.filter(({ times }) => times > 1)).toEqual([]);
  const metrics = async () => await (await fetch(`${world.server.baseUrl}/metrics`)).text();
  await expect.poll(metrics, POLL).toContain('\nflorin_history_changed 1\n');

  const { differences } = await world.operate((operator) => operator.ledger.verify(() => {}));
  const missing = differences.map(({ what }) => /^custody on (\w+): balance/.exec(what)?.[1]);
  expect(new Set(missing)).toEqual(new Set(NETWORKS));
  await expect(world.operate((operator) => operator.ledger.adoptHistory())).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await moved(world)).toEqual(paid);
});
