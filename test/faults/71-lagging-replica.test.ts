import { afterAll, beforeAll, expect, test } from 'vitest';
import { Replica } from './replica.ts';
import { NETWORKS, type Network, World } from './world.ts';

// The database is lost together with commits that the chains have already seen the effects of.

let world: World;
let replica: Replica;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 0, ownChain: true });
  replica = await Replica.of(world, false);
}, 180_000);
afterAll(async () => {
  await world?.close();
  await replica?.close();
});

const PATIENCE = { timeout: 120_000, interval: 500 };
const MOVED = `
  select t.network, t.amount::text, count(*)::int as times from simchain.transfer t
  join simchain.transaction x using (merchant_id, network, tx_id)
  where x.origin = 'wallet' and t.sender <> t.recipient group by 1, 2 order by 1, 2`;
const moved = () => world.chain.query<{ network: string; amount: string; times: number }>(MOVED);
const statusOf = async (id: string) =>
  String((await world.merchant.insist('GET', `/payout-batches/${id}`)).status);

const submit = async (network: Network): Promise<string> => {
  const id = await world.merchant.create(world.items(network, 2));
  await world.merchant.submit(id);
  return id;
};

const open = async (ids: readonly string[]): Promise<number> => {
  for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
  const states = await Promise.all(ids.map(statusOf));
  return states.filter((status) => status !== 'completed').length;
};

/** Networks of which a worker said that their transfers wait, each once a minute. */
const held = (): string[] => {
  const lines = world.workers.flatMap(({ log }) => log).filter((line) => line.includes('HistoryChanged'));
  return [...new Set(lines.map((line) => String(JSON.parse(line).network)))].toSorted();
};

test('fault 71: a replica that lacks what was sent takes over: payouts stop, nothing is paid twice, and the books say what is missing', {
  timeout: 600_000,
}, async () => {
  const first = await world.addNode('work');
  await first.start();
  const known = await Promise.all(NETWORKS.map(submit));
  await expect.poll(() => open(known), PATIENCE).toBe(0);
  await first.kill();

  // The replica knows of one batch on each network what it shall pay, and of one more that it was about to be signed.
  const worker = await world.addNode('work');
  await worker.start({ stopPoint: 'reserve.after-commit' });
  const reserved = await submit('trc20');
  await expect.poll(() => worker.isStopped, PATIENCE).toBe(true);
  const unsent = await Promise.all(NETWORKS.map(submit));
  await replica.catchUp();
  replica.fallBehind();
  worker.signal('SIGCONT');
  const lost = [reserved, ...unsent];
  await expect.poll(() => open(lost), PATIENCE).toBe(0);
  const paid = await moved();
  expect(paid).toHaveLength(2 * (known.length + lost.length));

  await world.killDatabase();
  await replica.promote();
  await first.start();
  await expect.poll(held, PATIENCE).toEqual(NETWORKS.toSorted());
  const later = await submit('erc20');
  expect(await open([...lost, later])).toBe(lost.length + 1);
  expect(await moved()).toEqual(paid);
  expect(paid.filter(({ times }) => times > 1)).toEqual([]);
  const metrics = async () => await (await fetch(`${world.server.baseUrl}/metrics`)).text();
  await expect.poll(metrics, PATIENCE).toContain('\nflorin_history_changed 1\n');

  const { differences } = await world.operate((operator) => operator.ledger.verify(() => {}));
  const missing = differences.map(({ what }) => /^custody on (\w+): balance/.exec(what)?.[1]);
  expect(new Set(missing)).toEqual(new Set(NETWORKS));
  await expect(world.operate((operator) => operator.ledger.adoptHistory())).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await moved()).toEqual(paid);
});
