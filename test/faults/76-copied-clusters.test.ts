import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BaseBackup, takeBaseBackup } from './base-backup.ts';
import { NodeUnderTest, type Role } from './node-under-test.ts';
import { Replica } from './replica.ts';
import { NETWORKS, type Network, World } from './world.ts';

// Copies of a whole cluster work beside the original, on the same chains.

const PATIENCE = { timeout: 120_000, interval: 500 };

let world: World;
let replica: Replica;
const backups: BaseBackup[] = [];
const nodes: NodeUnderTest[] = [];

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 0, ownChain: true });
  replica = await Replica.of(world, false);
}, 180_000);
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await Promise.all(backups.map((backup) => backup.close()));
  await replica?.close();
  await world?.close();
}, 60_000);

const MOVED = `
  select t.network || ' ' || t.amount as item, count(*)::int as times from simchain.transfer t
  join simchain.transaction x using (merchant_id, network, tx_id)
  where x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient group by 1 order by 1`;
const ITEMS = `select network || ' ' || amount as item, 1 as times from payout_item order by 1`;
const moved = () => world.chain.query<{ item: string; times: number }>(MOVED);
const allItems = () => world.database.query<{ item: string; times: number }>(ITEMS);

const submit = async (network: Network): Promise<string> => {
  const id = await world.merchant.create(world.items(network, 2));
  await world.merchant.submit(id);
  return id;
};
const open = async (ids: readonly string[]): Promise<number> => {
  for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
  const states = await Promise.all(
    ids.map(async (id) => (await world.merchant.insist('GET', `/payout-batches/${id}`)).status),
  );
  return states.filter((status) => status !== 'completed').length;
};

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
  const worker = await world.addNode('work');
  await worker.start();
  const known = await Promise.all(NETWORKS.map(submit));
  await expect.poll(() => open(known), PATIENCE).toBe(0);
  await worker.kill();

  // The copies know of transfers that wait for their bytes, and of batches that nobody has looked at.
  await worker.start({ stopPoint: 'reserve.after-commit' });
  const pending = [await submit('trc20')];
  await expect.poll(() => worker.isStopped, PATIENCE).toBe(true);
  pending.push(...(await Promise.all([...NETWORKS, ...NETWORKS].map(submit))));
  await replica.catchUp();
  replica.fallBehind();
  for (const isRecovered of [false, true])
    backups.push(await takeBaseBackup(world.database, `backup-${isRecovered}`, isRecovered));

  worker.signal('SIGCONT');
  await expect.poll(() => open(pending), PATIENCE).toBe(0);
  const paid = await moved();
  expect(paid).toEqual(await allItems());

  const copies = [await replica.promoteBeside()];
  for (const backup of backups) copies.push(await backup.start());
  for (const url of copies) {
    const server = await startOn(url, 'serve');
    await startOn(url, 'work');
    const metrics = async () => await (await fetch(`${server.baseUrl}/metrics`)).text();
    await expect.poll(metrics, PATIENCE).toContain('\nflorin_history_changed 1\n');
  }
  expect(await moved()).toEqual(paid);

  // The original goes on beside them.
  const later = await Promise.all(NETWORKS.map(submit));
  await expect.poll(() => open(later), PATIENCE).toBe(0);
  expect(await moved()).toEqual(await allItems());
  const told = nodes.flatMap(({ log }) => log.filter((line) => line.includes('history_changed')));
  expect(told.length).toBeGreaterThanOrEqual(copies.length);
  expect(told.length).toBeLessThanOrEqual(copies.length * NETWORKS.length * 3);
});
