import { setTimeout as sleep } from 'node:timers/promises';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { Fail, type Operator } from '../../packages/server/src/operator.ts';
import { idText } from './check-batches.ts';
import type { GoodClient } from './good-client.ts';
import type { Round } from './seeded-plan.ts';
import type { Person, World } from './world.ts';

// One merchant has low thresholds: what goes beyond them waits until two people have decided, as everything around them
// breaks.

const LOOK_EVERY_MS = 200;
const DECIDED_WITHIN_MS = 20_000;
const TOKEN = 1_000_000;
const PAYMENT = 12 * TOKEN;
/** Who approves and is removed before anybody else has decided. */
const REMOVED = 'Cid';

/** 30 tokens a day go out unapproved, and of refunds 3; one above 5 never does. */
const THRESHOLDS = {
  'payouts.unapproved_per_day': '30.00',
  'payouts.approvals': '2',
  'refunds.unapproved_per_day': '3.00',
  'refunds.approval_above': '5.00',
  'refunds.approvals': '2',
};

/** The merchant of a run that lets little go out unapproved. */
const carefulOf = (world: World): GoodClient => world.merchants.at(-1) ?? world.merchant;

export async function setThresholds(world: World): Promise<void> {
  const { publicId } = carefulOf(world);
  await world.operate(async ({ settings }) => {
    for (const [name, value] of Object.entries(THRESHOLDS)) await settings.set(name, value, publicId);
  });
}

interface Waiting {
  id: string;
  decide: (verdict: 'approve' | 'reject', person: Person) => Promise<unknown>;
}

async function findWaiting(
  world: World,
  { payouts, refunds }: Operator,
  client: GoodClient,
): Promise<Waiting[]> {
  const batches = await world.database.query<{ id: string }>(
    `select batch_id as id from payout_batch where merchant_id = $1 and status = 'pending_approval'`,
    [client.merchantId],
  );
  const own = await world.database.query<{ id: string; own_id: string }>(
    `select refund_id as id, own_id from refund
     where merchant_id = $1 and status = 'pending' and required_approvals > 0 and approved_at is null`,
    [client.merchantId],
  );
  return [
    ...batches.map(({ id }): Waiting => {
      const batch = `pb_${idText(id)}`;
      return { id, decide: (verdict, person) => payouts[verdict]({ batch, ...person }) };
    }),
    ...own.map(({ id, own_id: refund }): Waiting => {
      const merchant = client.publicId;
      return { id, decide: (verdict, person) => refunds[verdict]({ refund, merchant, ...person }) };
    }),
  ];
}

/** By the last character of its id: one rejects, one approves and is removed before the two decide, or the two at once. */
async function decideOne({ approvers }: Operator, { id, decide }: Waiting, client: GoodClient, world: World) {
  const [ann, bob] = world.people.get(client.merchantId) ?? [];
  if (ann === undefined || bob === undefined) throw new Error('there are two people');
  const way = Number.parseInt(id.at(-1) ?? '', 16) % 4;
  if (way === 0) {
    await refused(decide('reject', ann));
  } else if (way === 1) {
    const removed = await refused(approvers.add(REMOVED, client.publicId));
    if (removed !== undefined) await refused(decide('approve', { as: REMOVED, token: removed.token }));
    await refused(approvers.remove(REMOVED, client.publicId));
    await refused(decide('approve', ann));
    await sleep(LOOK_EVERY_MS);
    await refused(decide('approve', bob));
  } else {
    await Promise.all([refused(decide('approve', ann)), refused(decide('approve', bob))]);
  }
}

/** Canceled, decided by another, or said before a crash: all of that is a refusal. */
async function refused<T>(said: Promise<T>): Promise<T | undefined> {
  return await said.catch((error: unknown) => {
    if (error instanceof Fail) return undefined;
    throw error;
  });
}

/** Decides all that waits for approval. @returns what waits still */
export async function decideApprovals(
  world: World,
  operator: Operator,
  client: GoodClient,
): Promise<string[]> {
  for (const one of await findWaiting(world, operator, client)) await decideOne(operator, one, client, world);
  return (await findWaiting(world, operator, client)).map(({ id }) => `${id} waits for approval`);
}

/** Lets networks go on that a reorganisation below finality has stopped. */
export async function resumeNetworks({ networks }: Operator): Promise<void> {
  for (const { network, status } of await networks.list())
    if (status === 'stopped') await networks.resume(network);
}

/** Submits are refused while a network is stopped, and clients wait less long than a round may take. */
const RESUMED_EVERY_MS = 30_000;

/** Decides as things come, until it is told to stop; whatever breaks off a person is tried again. */
export async function keepDeciding(world: World, until: AbortSignal): Promise<void> {
  let resumeAt = Date.now() + RESUMED_EVERY_MS;
  while (!until.aborted) {
    await world.operate((operator) => decideApprovals(world, operator, carefulOf(world))).catch(() => {});
    if (Date.now() > resumeAt) {
      await world.operate(resumeNetworks).catch(() => {});
      resumeAt = Date.now() + RESUMED_EVERY_MS;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Batches and refunds that wait for people, who decide meanwhile. */
export async function waitForPeople(world: World, round: Round): Promise<void> {
  const client = carefulOf(world);
  const { network, count } = round;
  const batches = Array.from({ length: count }, async () => {
    await client.submit(await client.create(world.items(network, 3 * count, { client })));
  });
  const refunds = Array.from({ length: count }, async (_, i) => {
    const session = await client.openSession(PAYMENT);
    await client.pay(session, { currency: 'USDT', network, amount: PAYMENT });
    await client.refund(session, testAddresses(network).succeed, i === 0 ? 6 : 1);
  });
  await Promise.all([...batches, ...refunds]);
  for (const end = Date.now() + DECIDED_WITHIN_MS; Date.now() < end; await sleep(LOOK_EVERY_MS)) {
    const waiting = await world.operate((operator) => findWaiting(world, operator, client)).catch(() => [1]);
    if (waiting.length === 0) return;
  }
  throw new Error(`people did not decide within ${DECIDED_WITHIN_MS} ms`);
}
