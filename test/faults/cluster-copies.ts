import { expect } from 'vitest';
import type { NodeUnderTest } from './node-under-test.ts';
import type { Replica } from './replica.ts';
import { NETWORKS, type Network, World } from './world.ts';

// What the faults have in common in which a copy of a whole cluster knows less than the chains.

export const POLL = { timeout: 120_000, interval: 500 };

/** A world whose chains outlive its database, and without workers of its own. */
export const openWorld = () => World.open({ servers: 1, workers: 0, ownChain: true });

/** @returns the id of a submitted batch of two items */
export async function submit(world: World, network: Network): Promise<string> {
  const id = await world.merchant.create(world.items(network, 2));
  await world.merchant.submit(id);
  return id;
}

/** Makes blocks. @returns how many of these batches are not paid yet */
export async function openBatches(world: World, ids: readonly string[]): Promise<number> {
  for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
  const states = await Promise.all(
    ids.map(async (id) => (await world.merchant.insist('GET', `/payout-batches/${id}`)).status),
  );
  return states.filter((status) => status !== 'completed').length;
}

const MOVED = `
  select t.network || ' ' || t.amount as item, count(*)::int as times from simchain.transfer t
  join simchain.transaction x using (merchant_id, network, tx_id)
  where x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient group by 1 order by 1`;

/** What our wallets have paid, each amount of a network with how often. */
export const moved = (world: World) => world.chain.query<{ item: string; times: number }>(MOVED);

export interface LeftBehind {
  /** Was stopped with the first of `unknown` reserved and not signed, and goes on when it is told to. */
  worker: NodeUnderTest;
  known: string[];
  /** Submitted, and not sent as far as the replica knows. */
  unknown: string[];
}

/**
 * Pays a batch on each network, then leaves the replica behind at a moment at which one transfer waits for its bytes and as
 * many batches as are asked for wait for somebody to look at them.
 */
export async function leaveBehind(
  world: World,
  replica: Replica,
  waiting: readonly Network[],
): Promise<LeftBehind> {
  const worker = await world.addNode('work');
  await worker.start();
  const known = await Promise.all(NETWORKS.map((network) => submit(world, network)));
  await expect.poll(() => openBatches(world, known), POLL).toBe(0);
  await worker.kill();
  await worker.start({ stopPoint: 'reserve.after-commit' });
  const reserved = await submit(world, 'trc20');
  await expect.poll(() => worker.isStopped, POLL).toBe(true);
  const unsent = await Promise.all(waiting.map((network) => submit(world, network)));
  await replica.catchUp();
  replica.fallBehind();
  return { worker, known, unknown: [reserved, ...unsent] };
}
