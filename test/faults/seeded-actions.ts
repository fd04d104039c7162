import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoodClient } from './good-client.ts';
import type { NodeUnderTest } from './node-under-test.ts';
import { type Ambush, COMMIT, type FaultProxy } from './proxy.ts';
import { goOnWithACopy } from './seeded-copies.ts';
import {
  listInFlight,
  loseForGood,
  type MoneyStage,
  payOurselves,
  reorganiseDeeply,
  suspend,
} from './seeded-money-actions.ts';
import { waitForPeople } from './seeded-people.ts';
import type { Action, Round } from './seeded-plan.ts';
import { payAsQuotesEnd } from './seeded-quotes.ts';
import { refundToPayer } from './seeded-refunds.ts';
import { sendAsStranger } from './seeded-strangers.ts';
import type { World } from './world.ts';

/** What a run did to the service. */
export interface Tally {
  kills: number;
  databaseKills: number;
  crashes: number;
  cuts: number;
  commitCuts: number;
  replays: number;
}

interface Stage {
  world: World;
  round: Round;
  tally: Tally;
}

const IDENTICAL = 8;
const DAY_SECONDS = 86_400;
const PASS_BY = 3;
const BLOCKS_TO_FINAL = 4;
const REPLAYED = 5;
const PRIED = 2;
const CRASH_WITHIN_MS = 1_500;
const DATABASE_AWAY_SHARE = 2;

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const clientOf = ({ world, round }: Stage): GoodClient => at(world.merchants, round.target);
const moneyStage = (stage: Stage): MoneyStage => ({ ...stage, client: clientOf(stage) });
const nodeOf = ({ world, round }: Stage): NodeUnderTest => at(world.nodes, round.target);

async function kill(stage: Stage, node: NodeUnderTest): Promise<void> {
  stage.tally.kills += 1;
  await node.kill();
  await sleep(stage.round.forMs);
  await node.start();
}

async function killDatabase({ world, round, tally }: Stage): Promise<void> {
  tally.databaseKills += 1;
  await world.killDatabase();
  await sleep(round.forMs / DATABASE_AWAY_SHARE);
  await world.startDatabase();
}

const DUE = 1_000_000;

async function payOne(client: GoodClient, network: string): Promise<void> {
  const session = await client.openSession(DUE);
  await client.pay(session, { currency: 'USDT', network, amount: DUE });
}

/** Payouts, and a payment, that come by wherever a fault lies in wait. */
async function passBy({ world, round }: Stage): Promise<void> {
  const client = at(world.merchants, round.target);
  for (let i = 0; i < PASS_BY; i++) {
    await client.submit(await client.create(world.items(round.network, 2, { client })));
    if (i === 0) await payOne(client, round.network);
    await world.controlChain(round.network, { mine: BLOCKS_TO_FINAL }, client);
  }
}

/** Where nothing of the load comes by the point, the process lives on. */
async function crash(stage: Stage, node: NodeUnderTest, crashPoint: string): Promise<void> {
  await node.kill();
  await node.start({ crashPoint });
  const payouts = passBy(stage);
  await Promise.race([node.ended, payouts.then(() => sleep(CRASH_WITHIN_MS))]);
  if (!node.isUp) {
    stage.tally.crashes += 1;
    await node.start();
  }
  await payouts;
}

/** Which of a process's two lines: that to the product's database, or that to the chain. */
function lineOf(stage: Stage): FaultProxy {
  const node = nodeOf(stage);
  // Servers ask the chain for nothing but the test helpers.
  return node.role === 'work' && stage.round.count === 1 ? node.chain : node.database;
}

async function disturb(stage: Stage, how: 'blink' | 'cut' | 'freeze' | 'delay'): Promise<void> {
  const line = lineOf(stage);
  if (how === 'delay') line.delay(stage.round.count * 10);
  else line[how]();
  if (how !== 'delay') stage.tally.cuts += 1;
  if (how !== 'blink') await sleep(stage.round.forMs);
  line.mend();
}

async function cutAtCommit(stage: Stage, when: Ambush['when']): Promise<void> {
  const line = lineOf(stage);
  const sprung = line.ambush({ statement: COMMIT, when }).then(() => true);
  const payouts = passBy(stage);
  const over = payouts.then(() => sleep(CRASH_WITHIN_MS)).then(() => false);
  const hit = await Promise.race([sprung, over]);
  line.lift();
  await payouts;
  if (hit) stage.tally.commitCuts += 1;
}

/** What somebody heard on the line, sent again to whichever node. */
async function replay(stage: Stage): Promise<void> {
  const client = clientOf(stage);
  const heard = client.exchanges.filter(({ status, isHostile }) => status === 200 && !isHostile);
  if (heard.length === 0) return;
  const chosen = Array.from({ length: REPLAYED }, (_, i) => at(heard, stage.round.target * (i + 1)));
  const answers = await Promise.all(chosen.map((exchange, i) => client.replay(exchange, i)));
  stage.tally.replays += answers.filter(({ status }) => status === 401).length;
}

/** Reads all that is its own, and tries what is another's: its ids, its cursors and its keys. */
async function pry({ world, round }: Stage): Promise<void> {
  const client = at(world.merchants, round.target);
  const other = at(world.merchants, round.target + 1);
  const [own] = [...client.idsByKey.values()].flatMap((ids) => [...ids]);
  const reads = ['/events?limit=100', '/ledger_entries?limit=100', '/balances', '/payout-batches?limit=100'];
  if (own !== undefined) reads.push(`/payout-batches/${own}/items?limit=100`);
  await Promise.all(reads.map((path) => client.request('GET', path)));
  // Keys that went round already are its own by now, and bound to what it sent with them.
  const foreign = [...other.idsByKey].filter(([key]) => !client.idsByKey.has(key)).slice(-PRIED);
  const isHostile = true;
  for (const [key, [id]] of foreign) {
    const tries = [
      client.request('GET', `/payout-batches/${id}`, { isHostile }),
      client.request('GET', `/payout-batches/${id}/items`, { isHostile }),
      client.request('GET', `/payout-batches?starting_after=${id}`, { isHostile }),
      client.request('GET', `/payout-batches?idempotency_key=${key}`, { isHostile }),
      client.request('GET', `/events?resource=${id}`, { isHostile }),
      client.request('POST', `/payout-batches/${id}/submit`, { body: {}, isHostile }),
      client.request('POST', `/payout-batches/${id}/cancel`, { body: {}, isHostile }),
    ];
    await Promise.all(tries);
    // Another's key is as good as any.
    await client.create(world.items(round.network, 1, { client }), key);
  }
}

async function createTogether(stage: Stage): Promise<void> {
  const client = clientOf(stage);
  const items = stage.world.items(stage.round.network, 1, { client });
  const key = randomUUID();
  await Promise.all(Array.from({ length: IDENTICAL }, () => client.create(items, key)));
}

async function submitAndCancel(stage: Stage): Promise<void> {
  const { world, round } = stage;
  const client = clientOf(stage);
  const batchId = await client.create(world.items(round.network, 2, { client }));
  const path = `/payout-batches/${batchId}`;
  const submits = Array.from({ length: round.count }, () =>
    client.request('POST', `${path}/submit`, { body: {} }),
  );
  await Promise.all([...submits, client.request('POST', `${path}/cancel`, { body: {} })]);
}

async function pauseWorker({ world, round }: Stage): Promise<void> {
  const worker = at(world.workers, round.target);
  worker.signal('SIGSTOP');
  await sleep(round.forMs);
  worker.signal('SIGCONT');
}

const control = (stage: Stage, order: object) =>
  stage.world.controlChain(stage.round.network, order, clientOf(stage));

const lie = ({ world, round }: Stage) =>
  world.chain.query('update simchain.chain set faults = faults || $1::text[] where network = $2', [
    Array.from({ length: round.count }, () => round.lie),
    round.network,
  ]);

/** Each of the seeded run's faults, from its beginning to its end. */
const PERFORM: Readonly<Record<Action, (stage: Stage) => Promise<unknown>>> = {
  'kill a server': (stage) => kill(stage, at(stage.world.servers, stage.round.target)),
  'kill a worker': (stage) => kill(stage, at(stage.world.workers, stage.round.target)),
  'kill the database': killDatabase,
  'crash a server at a point': (stage) =>
    crash(stage, at(stage.world.servers, stage.round.target), stage.round.serverPoint),
  'crash a worker at a point': (stage) =>
    crash(stage, at(stage.world.workers, stage.round.target), stage.round.workerPoint),
  blink: (stage) => disturb(stage, 'blink'),
  'cut for a while': (stage) => disturb(stage, 'cut'),
  'freeze for a while': (stage) => disturb(stage, 'freeze'),
  delay: (stage) => disturb(stage, 'delay'),
  'cut before a commit': (stage) => cutAtCommit(stage, 'before'),
  'cut after a commit': (stage) => cutAtCommit(stage, 'after'),
  'pause a worker': pauseWorker,
  replay,
  pry,
  'identical creates': createTogether,
  'advance the clock': (stage) =>
    clientOf(stage).request('POST', '/test_helpers/clock/advance', {
      body: { seconds: stage.round.target + 1 },
    }),
  // Renewals of the daily subscriptions fall due.
  'advance by days': (stage) =>
    clientOf(stage).request('POST', '/test_helpers/clock/advance', {
      body: { seconds: stage.round.count * DAY_SECONDS },
    }),
  'drop broadcasts': (stage) => control(stage, { drop_next: stage.round.count }),
  // The newest two of three confirmations: nothing that was final.
  reorganise: (stage) => control(stage, { reorg: Math.min(2, stage.round.count), remine: true }),
  'chain outage': (stage) => control(stage, { outage_seconds: stage.round.count }),
  'lie about a broadcast': lie,
  'submit and cancel': submitAndCancel,
  'reorganise deeply': (stage) => reorganiseDeeply(moneyStage(stage)),
  'lose payouts for good': (stage) => loseForGood(moneyStage(stage)),
  'pay ourselves': (stage) => payOurselves(moneyStage(stage)),
  'suspend the merchant': (stage) => suspend(moneyStage(stage)),
  'list a payer in flight': (stage) => listInFlight(moneyStage(stage)),
  'coins of a stranger': (stage) => sendAsStranger(moneyStage(stage)),
  'people decide': ({ world, round }) => waitForPeople(world, round),
  'refund to the payer': (stage) => refundToPayer(moneyStage(stage)),
  'pay as quotes end': (stage) => payAsQuotesEnd(moneyStage(stage)),
  'go on with a copy': (stage) => goOnWithACopy(moneyStage(stage)),
};

/** While these go on, something happens to the machines as well. */
const ACCOMPANIED: readonly Action[] = [
  'coins of a stranger',
  'people decide',
  'refund to the payer',
  'pay as quotes end',
];

export async function perform(world: World, round: Round, tally: Tally): Promise<void> {
  await sleep(round.afterMs);
  const stage = { world, round, tally };
  const actions = ACCOMPANIED.includes(round.action) ? [round.action, round.companion] : [round.action];
  await Promise.all(actions.map((action) => PERFORM[action](stage)));
}
