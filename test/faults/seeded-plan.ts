import { NETWORKS, type Network } from './world.ts';

/** Numbers that look random and come again with their seed (mulberry32). */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `max` - 1. */
  below(max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * max);
  }

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** Everything that can go wrong in a round. */
export const ACTIONS = [
  'kill a server',
  'kill a worker',
  'kill the database',
  'crash a server at a point',
  'crash a worker at a point',
  'blink',
  'cut for a while',
  'freeze for a while',
  'delay',
  'cut before a commit',
  'cut after a commit',
  'pause a worker',
  'replay',
  'pry',
  'identical creates',
  'advance the clock',
  'drop broadcasts',
  'reorganise',
  'chain outage',
  'lie about a broadcast',
  'submit and cancel',
  'advance by days',
  'reorganise deeply',
  'lose payouts for good',
  'pay ourselves',
  'suspend the merchant',
  'list a payer in flight',
  'coins of a stranger',
  'people decide',
  'refund to the payer',
  'pay as quotes end',
  'go on with a copy',
] as const;
export type Action = (typeof ACTIONS)[number];

/** What may happen to the machines while one of the actions with money goes on. */
const COMPANIONS = [
  'kill a server',
  'kill a worker',
  'kill the database',
  'crash a server at a point',
  'crash a worker at a point',
  'blink',
  'cut for a while',
  'freeze for a while',
  'cut before a commit',
  'cut after a commit',
] as const satisfies readonly Action[];

const SERVER_POINTS = [
  'create.before-transaction',
  'create.key-claimed',
  'create.batch-inserted',
  'create.before-commit',
  'create.after-commit',
  'create.before-reply',
  'submit.before-commit',
  'submit.after-commit',
  'refund.key-claimed',
  'refund.reserved',
  'refund.before-commit',
  'refund.after-commit',
] as const;
/** Every numbered place of a payout's way, in its order. */
export const WORKER_POINTS = [
  'process.claimed',
  'process.before-commit',
  'process.after-commit',
  'send.claimed',
  'reserve.before',
  'reserve.before-commit',
  'reserve.after-commit',
  'build.after',
  'store.before-commit',
  'store.after-commit',
  'broadcast.before',
  'broadcast.after',
  'mark.before',
  'mark.after-commit',
  'watch.looked',
  'decide.closed',
  'decide.before-commit',
  'decide.after-commit',
  'settle.before',
  'settle.before-commit',
  'settle.after-commit',
] as const;
/** Every place of a deposit's way. */
export const DEPOSIT_POINTS = [
  'deposits.transactions-written',
  'deposits.posted',
  'deposits.applied',
  'deposits.before-cursor',
] as const;
/** And of the news of it. */
const SENDER_POINTS = [
  'publish.before-transaction',
  'publish.after-commit',
  'deliver.before-send',
  'deliver.after-send',
  'deliver.recorded',
] as const;
const LIES = [
  'drop',
  'accept_then_timeout',
  'timeout_dropped',
  'say_expired',
  'say_nonce_too_low',
  'say_already_known',
  'unknown_code',
  'garbage',
] as const;
const BATCHES_MAX = 4;
const ITEMS_MAX = 5;
const PAYMENTS_MAX = 3;
const DELAY_MAX_MS = 80;
const SPREAD_MS = 700;
const FAULT_MAX_MS = 800;

export interface PlannedBatch {
  merchant: number;
  network: Network;
  good: number;
  bad: number;
  /** When in the round its client begins. */
  atMs: number;
}

/** How a payer pays what is due: each leaves other rows behind. */
export const PAYERS = [
  'exactly',
  'too little',
  'too much',
  'in parts',
  'twice',
  'in another token',
  'in a token that nobody lists',
  'after a cancel',
] as const;

export interface PlannedPayment {
  merchant: number;
  network: Network;
  how: (typeof PAYERS)[number];
  /** Whether the payer's blocks come at once. */
  final: boolean;
  atMs: number;
}

/** A daily subscription: its first price and those that it is changed to, and how its payer pays. */
export interface PlannedSubscription {
  merchant: number;
  network: Network;
  pays: (typeof SUBSCRIBERS)[number];
  /** Whole dollars. */
  dollars: number[];
  proration: (typeof PRORATIONS)[number];
  cancels: boolean;
  atMs: number;
}
const SUBSCRIBERS = ['never', 'by page', 'by mandate'] as const;
const PRORATIONS = ['now', 'period_end', 'none'] as const;
const PRICES = [1, 10, 40, 100, 400] as const;
const SUBSCRIPTIONS_MAX = 2;
const CHANGES_MAX = 3;

export interface Round {
  action: Action;
  /** A fault of the machines beside it, where the action is one with money. */
  companion: Action;
  /** Which of several processes, merchants or exchanges: taken modulo their number. */
  target: number;
  network: Network;
  serverPoint: string;
  workerPoint: string;
  lie: string;
  /** Blocks, broadcasts, tries: what the action makes of it. */
  count: number;
  /** From the start of the load to the fault, and how long the fault lasts. */
  afterMs: number;
  forMs: number;
  load: PlannedBatch[];
  payments: PlannedPayment[];
  subscriptions: PlannedSubscription[];
}

/** What a seed stands for: the same rounds each time. */
export function planRounds(
  seed: number,
  rounds: number,
  merchants: number,
  actions: readonly Action[] = ACTIONS,
): Round[] {
  const dice = new Dice(seed);
  return Array.from({ length: rounds }, () => ({
    action: dice.pick(actions),
    companion: dice.pick(COMPANIONS),
    target: dice.below(1_000),
    network: dice.pick(NETWORKS),
    serverPoint: `${dice.pick(SERVER_POINTS)}:${dice.between(1, 2)}`,
    workerPoint: `${dice.pick([...WORKER_POINTS, ...DEPOSIT_POINTS, ...SENDER_POINTS])}:${dice.between(1, 3)}`,
    lie: dice.pick(LIES),
    count: dice.between(1, 3),
    afterMs: dice.below(DELAY_MAX_MS),
    forMs: dice.below(FAULT_MAX_MS),
    load: Array.from({ length: dice.between(1, BATCHES_MAX) }, () => ({
      merchant: dice.below(merchants),
      network: dice.pick(NETWORKS),
      good: dice.between(1, ITEMS_MAX),
      bad: dice.below(2),
      atMs: dice.below(SPREAD_MS),
    })),
    payments: Array.from({ length: dice.between(1, PAYMENTS_MAX) }, () => ({
      merchant: dice.below(merchants),
      network: dice.pick(NETWORKS),
      how: dice.pick(PAYERS),
      final: dice.below(2) === 0,
      atMs: dice.below(SPREAD_MS),
    })),
    subscriptions: Array.from({ length: dice.between(0, SUBSCRIPTIONS_MAX) }, () => ({
      merchant: dice.below(merchants),
      network: dice.pick(NETWORKS),
      pays: dice.pick(SUBSCRIBERS),
      dollars: Array.from({ length: dice.between(1, 1 + CHANGES_MAX) }, () => dice.pick(PRICES)),
      proration: dice.pick(PRORATIONS),
      cancels: dice.below(4) === 0,
      atMs: dice.below(SPREAD_MS),
    })),
  }));
}
