import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BaseBackup, takeBaseBackup } from './base-backup.ts';
import { leaveBehind, moved, openBatches, openWorld, POLL, submit } from './cluster-copies.ts';
import { NodeUnderTest, type Role } from './node-under-test.ts';
import { Replica } from './replica.ts';
import { NETWORKS, type World } from './world.ts';

// Copies of a whole cluster work beside the original, on the same chains.

let world: World;
let replica: Replica;
const backups: BaseBackup[] = [];
const nodes: NodeUnderTest[] = [];

beforeAll(async () => {
  world = await openWorld();
  replica = await Replica.of(world, false);
}, 180_000);
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await Promise.all(backups.map((backup) => backup.close()));
  await replica?.close();
  await world?.close();
}, 60_000);

const ITEMS = `select network || ' ' || amount as item, 1 as times from payout_item order by 1`;
const allItems = () => world.database.query<{ item: string; times: number }>(ITEMS);

async function startOn(databaseUrl: string, role: Role): Promise<NodeUnderTest> {
  const node = await NodeUnderTest.open({
    role,
    name: `${role} of a copy`,
    databaseUrl,
    chainUrl: world.chain.url,
    masterKey: world.operatorEnv.FLORIN_MASTER_KEY ?? '',
  });
  nodes.push(node);
  await node.start();
  return node;
}

test('fault 76: base backups and a promoted replica work beside the original: each item is paid once', {
  timeout: 600_000,
}, async () => {
  const { worker, unknown } = await leaveBehind(world, replica, [...NETWORKS, ...NETWORKS]);
  for (const isRecovered of [false, true])
    backups.push(await takeBaseBackup(world.database, `backup-${isRecovered}`, isRecovered));

  worker.signal('SIGCONT');
  await expect.poll(() => openBatches(world, unknown), POLL).toBe(0);
  const paid = await moved(world);
  expect(paid).toEqual(await allItems());

  const copies = [await replica.promoteBeside()];
  for (const backup of backups) copies.push(await backup.start());
  for (const url of copies) {
    const server = await startOn(url, 'serve');
    await startOn(url, 'work');
    const metrics = async () => await (await fetch(`${server.baseUrl}/metrics`)).text();
    await expect.poll(metrics, POLL).toContain('\nflorin_history_changed 1\n');
  }
  expect(await moved(world)).toEqual(paid);

  // The original goes on beside them.
  const later = await Promise.all(NETWORKS.map((network) => submit(world, network)));
  await expect.poll(() => openBatches(world, later), POLL).toBe(0);
  expect(await moved(world)).toEqual(await allItems());
  const told = nodes.flatMap(({ log }) => log.filter((line) => line.includes('history_changed')));
  expect(told.length).toBeGreaterThanOrEqual(copies.length);
  expect(told.length).toBeLessThanOrEqual(copies.length * NETWORKS.length * 3);
});
