import { setTimeout as sleep } from 'node:timers/promises';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { countCopies } from './check-deliveries.ts';
import { type Finding, ledgerMinusChain } from './checker.ts';
import type { GoodClient } from './good-client.ts';
import { perform, type Tally } from './seeded-actions.ts';
import { settleBooks } from './seeded-operator.ts';
import { keepDeciding, setThresholds } from './seeded-people.ts';
import {
  type Action,
  type PlannedBatch,
  type PlannedPayment,
  planRounds,
  type Round,
} from './seeded-plan.ts';
import { subscribe } from './seeded-subscriptions.ts';
import { World } from './world.ts';

/** The last of them is careful. */
const MERCHANTS = 3;
/** Every fifth webhook is answered 500. The chains know what a copy of the database does not. */
const WORLD = { ownChain: true, chainInView: true, receive: 'flaky/5' } as const;

export interface SeededRunOptions {
  seed: number;
  rounds: number;
  /** What may go wrong; anything without. */
  actions?: readonly Action[] | undefined;
  /** Called after each round, with what happened in it. */
  onRound?: (line: string) => void;
}

export interface Verdict extends Tally {
  seed: number;
  rounds: number;
  requests: number;
  /** Answers 200 to writes. */
  acknowledged: number;
  unanswered: number;
  /** 503 while something was broken. */
  unavailable: number;
  batches: number;
  /** Refunds that were made. */
  refunds: number;
  /** Events that came to an endpoint, and requests beyond the first of each: retries and copies. */
  webhooks: number;
  webhookRepeats: number;
  lost: number;
  duplicates: number;
  ledgerMinusChain: string;
  seconds: number;
  /** What is broken: nothing. */
  findings: Finding[];
}

async function payOut(world: World, { merchant, network, good, bad, atMs }: PlannedBatch): Promise<void> {
  await sleep(atMs);
  const client = world.merchants[merchant % world.merchants.length] ?? world.merchant;
  const items = [
    ...world.items(network, good, { client }),
    ...world.items(network, bad, { client, to: 'fail' }),
  ];
  await client.submit(await client.create(items));
}

const TOKEN = 1_000_000;

/** Every other payment is refunded in part, every fourth refund fails on the chain. */
const REFUND_EVERY = 2;
const FAIL_EVERY = 8;

async function takePayment(world: World, payment: PlannedPayment): Promise<void> {
  const { merchant, network, atMs } = payment;
  await sleep(atMs);
  const client = world.merchants[merchant % world.merchants.length] ?? world.merchant;
  const session = await beginPayment(client, payment);
  if (atMs % REFUND_EVERY !== 0) return;
  const addresses = testAddresses(network);
  await client.refund(session, atMs % FAIL_EVERY === 0 ? addresses.fail : addresses.succeed);
}

/** A session of 10.00 to 12.00 tokens, and what a payer makes of it. @returns the session's id */
async function beginPayment(client: GoodClient, payment: PlannedPayment): Promise<string> {
  const { atMs } = payment;
  const due = 10 * TOKEN + (atMs % 200) * 10_000;
  const session = await client.openSession(due);
  await payIn(client, { session, due, ...payment });
  return session;
}

async function payIn(
  client: GoodClient,
  { session, due, network, how, final }: PlannedPayment & { session: string; due: number },
): Promise<void> {
  const pay = (amount: number, more: object = {}) =>
    client.pay(session, { currency: 'USDT', network, amount, final, ...more });
  switch (how) {
    case 'exactly':
      return await pay(due);
    case 'too little':
      return await pay(due - TOKEN);
    case 'too much':
      return await pay(due + TOKEN);
    case 'in parts':
      return await pay(due, { transfers: 3 });
    case 'twice':
      await Promise.all([pay(due), pay(due)]);
      return;
    case 'in another token':
      await pay(due, { currency: 'USDC' });
      return await pay(due);
    case 'in a token that nobody lists':
      await pay(due, { token: 'fake' });
      return await pay(due);
    case 'after a cancel':
      await client.request('POST', `/checkout/sessions/${session}/cancel`, { body: {} });
      return await pay(due);
  }
}

async function playRound(world: World, round: Round, tally: Tally): Promise<void> {
  const load = round.load.map((batch) => payOut(world, batch));
  const payments = round.payments.map((payment) => takePayment(world, payment));
  const subscriptions = round.subscriptions.map((plan) => subscribe(world, plan));
  const over = new AbortController();
  const people = keepDeciding(world, over.signal);
  const work = [...load, ...payments, ...subscriptions];
  const outcomes = await Promise.allSettled([perform(world, round, tally), ...work]);
  over.abort();
  await people;
  await world.heal();
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const [difference] = await settleBooks(world);
  if (difference !== undefined) throw new Error(`the books do not agree: ${difference}`);
}

/** Ids of the refunds that a merchant was told of. */
const refundsOf = ({ merchantId, exchanges }: GoodClient) =>
  exchanges
    .filter(({ status, answer }) => status === 200 && answer.object === 'refund')
    .map(({ answer }) => `${merchantId} ${String(answer.refund_id)}`);

/** Plays a seed's rounds under load, lets all work end and has everything judged. */
export async function runSeed({
  seed,
  rounds,
  actions,
  onRound = () => {},
}: SeededRunOptions): Promise<Verdict> {
  const startedMs = performance.now();
  const tally: Tally = { kills: 0, databaseKills: 0, crashes: 0, cuts: 0, commitCuts: 0, replays: 0 };
  const world = await World.open({ ...WORLD, merchants: MERCHANTS });
  const findings: Finding[] = [];
  try {
    await setThresholds(world);
    for (const [i, round] of planRounds(seed, rounds, MERCHANTS, actions).entries()) {
      const roundStartedMs = performance.now();
      await playRound(world, round, tally).catch((error: unknown) => {
        findings.push({ invariant: 'I15', what: `round ${i + 1} (${round.action}): ${String(error)}` });
      });
      const ms = Math.round(performance.now() - roundStartedMs);
      onRound(`round ${i + 1}/${rounds}: ${round.action}, ${round.load.length} batches, ${ms} ms`);
    }
    // What people decide once all work is over may be work again.
    await world.finish();
    const left = await settleBooks(world);
    findings.push(...left.map((what) => ({ invariant: 'I1', what })), ...(await world.judge()));
    return await judge(world, { seed, rounds, tally, findings, startedMs });
  } finally {
    await world.close();
  }
}

interface Played {
  seed: number;
  rounds: number;
  tally: Tally;
  findings: Finding[];
  startedMs: number;
}

async function judge(world: World, { seed, rounds, tally, findings, startedMs }: Played): Promise<Verdict> {
  const exchanges = world.merchants.flatMap((client) => client.exchanges);
  const count = (status: number) => exchanges.filter((exchange) => exchange.status === status).length;
  const broken = (...invariants: string[]) =>
    findings.filter(({ invariant }) => invariants.includes(invariant)).length;
  const difference = await ledgerMinusChain((text, values) => world.database.query(text, values));
  const { requests } = await world.receiver.report();
  const webhooks = countCopies(requests).size;
  return {
    seed,
    rounds,
    ...tally,
    requests: exchanges.length,
    acknowledged: exchanges.filter(({ method, status }) => method === 'POST' && status === 200).length,
    unanswered: count(0),
    unavailable: count(503),
    batches: new Set(world.merchants.flatMap((client) => [...client.idsByKey.keys()])).size,
    refunds: new Set(world.merchants.flatMap(refundsOf)).size,
    webhooks,
    webhookRepeats: requests.length - webhooks,
    lost: broken('I5'),
    duplicates: broken('I2', 'I4', 'I9'),
    ledgerMinusChain: String(difference),
    seconds: Math.round((performance.now() - startedMs) / 1000),
    findings,
  };
}
