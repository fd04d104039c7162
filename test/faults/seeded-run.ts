import { setTimeout as sleep } from 'node:timers/promises';
import { countCopies } from './check-deliveries.ts';
import { type Finding, ledgerMinusChain } from './checker.ts';
import { perform, type Tally } from './seeded-actions.ts';
import { type PlannedBatch, planRounds, type Round } from './seeded-plan.ts';
import { World } from './world.ts';

const MERCHANTS = 2;
/** Every fifth webhook is answered 500. */
const RECEIVE = 'flaky/5';

export interface SeededRunOptions {
  seed: number;
  rounds: number;
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

async function playRound(world: World, round: Round, tally: Tally): Promise<void> {
  const load = round.load.map((batch) => payOut(world, batch));
  const outcomes = await Promise.allSettled([perform(world, round, tally), ...load]);
  await world.heal();
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Plays a seed's rounds under load, lets all work end and has everything judged. */
export async function runSeed({ seed, rounds, onRound = () => {} }: SeededRunOptions): Promise<Verdict> {
  const startedMs = performance.now();
  const tally: Tally = { kills: 0, databaseKills: 0, crashes: 0, cuts: 0, commitCuts: 0, replays: 0 };
  const world = await World.open({ merchants: MERCHANTS, receive: RECEIVE });
  const findings: Finding[] = [];
  try {
    for (const [i, round] of planRounds(seed, rounds, MERCHANTS).entries()) {
      const roundStartedMs = performance.now();
      await playRound(world, round, tally).catch((error: unknown) => {
        findings.push({ invariant: 'I15', what: `round ${i + 1} (${round.action}): ${String(error)}` });
      });
      const ms = Math.round(performance.now() - roundStartedMs);
      onRound(`round ${i + 1}/${rounds}: ${round.action}, ${round.load.length} batches, ${ms} ms`);
    }
    findings.push(...(await world.judge()));
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
    webhooks,
    webhookRepeats: requests.length - webhooks,
    lost: broken('I5'),
    duplicates: broken('I2', 'I4', 'I9'),
    ledgerMinusChain: String(difference),
    seconds: Math.round((performance.now() - startedMs) / 1000),
    findings,
  };
}
