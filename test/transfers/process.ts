import { randomInt } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import type { App } from '../../packages/server/src/app.ts';
import type { ChainRegistry } from '../../packages/server/src/chains/index.ts';
import { type Chain, ChainUnavailable, type SignedTx } from '../../packages/server/src/chains/port/index.ts';
import type { TransferSpec } from '../../packages/server/src/chains/port/port.ts';
import { SWEPT_JOB, settleSweeps, sweepAll, sweepDeposits } from '../../packages/server/src/custody/sweep.ts';
import { CHARGE_DECIDED_JOB } from '../../packages/server/src/payment-methods/charges/index.ts';
import { CREDITED_JOB } from '../../packages/server/src/payments/deposits/jobs.ts';
import { PROCESS_JOB, SETTLE_JOB } from '../../packages/server/src/payouts/jobs.ts';
import { processBatch, settleBatch } from '../../packages/server/src/payouts/pay-batch.ts';
import type { Tx } from '../../packages/server/src/platform/db/db.ts';
import { settleOutcome } from '../../packages/server/src/platform/jobs/decisions.ts';
import type { Job, JobOutcome, JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { type ClaimedJob, newFence } from '../../packages/server/src/platform/jobs/job.ts';
import { claimJobs, releaseJobs, removeJobs } from '../../packages/server/src/platform/jobs/queries.ts';
import { ActiveRun } from '../../packages/server/src/platform/jobs/run.ts';
import {
  INSUFFICIENT_COINS_JOB,
  SEND_JOB,
  sendTransfers,
} from '../../packages/server/src/transfers/index.ts';
import { bookCharge } from './charges.ts';

const LEASE_MS = 300_000;
/** Later jobs are taken at once: a test moves the chain instead of waiting. */
const AHEAD_MS = 200_000;
/** More than a block needs to become final, so that no tick of the clock changes the number of polls. */
const FINAL_BLOCKS = 4;
const OWNER_MAX = 2 ** 31 - 1;

/** The simulated crash of a process: nothing of it runs on. */
export class GivenUp extends Error {}

/** A point right before or after an effect outside the process's memory. */
export interface Boundary {
  /** From 1. */
  count: number;
  /** `before broadcast`, `after reserve`… */
  name: string;
}

/** Called at a boundary; a throw ends the process there. */
export type AtBoundary = (boundary: Boundary) => Promise<void> | void;

/** Concurrent processes of the crash tests. */
const AT_ONCE = 8;

/** Does the work for each, so many at once. @returns the results in the order of the list */
export async function inParallel<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < all.length; i += AT_ONCE)
    results.push(...(await Promise.all(all.slice(i, i + AT_ONCE).map(work))));
  return results;
}

/** 1, 2, … up to the count. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

export const giveUpAt =
  (k: number): AtBoundary =>
  ({ count, name }) => {
    if (count === k) throw new GivenUp(name);
  };

/** All writes and calls of a worker's process pass through here. After a throw nothing passes any more. */
class Border {
  readonly crossed: string[] = [];
  readonly #at: AtBoundary;
  #over: unknown;

  constructor(at: AtBoundary) {
    this.#at = at;
  }

  async around<T>(name: string, effect: () => Promise<T>): Promise<T> {
    await this.#cross(`before ${name}`);
    const result = await effect();
    await this.#cross(`after ${name}`);
    return result;
  }

  async #cross(name: string): Promise<void> {
    if (this.#over !== undefined) throw this.#over;
    const count = this.crossed.push(name);
    try {
      await this.#at({ count, name });
    } catch (error) {
      this.#over = error;
      throw error;
    }
  }
}

/** The port, with a boundary before every call that builds, sends or reads. */
function borderedChain(chain: Chain, border: Border, unreadable?: ReadonlySet<string>): Chain {
  return {
    network: chain.network,
    capabilities: chain.capabilities,
    validateAddress: (address, options) => chain.validateAddress(address, options),
    sender: (keyRef) => chain.sender(keyRef),
    hotWallets: () => chain.hotWallets(),
    readRotation: () => border.around('readRotation', () => chain.readRotation()),
    unpayableAddresses: () => chain.unpayableAddresses(),
    nextSequence: (sender) => border.around('nextSequence', () => chain.nextSequence(sender)),
    head: () => chain.head(),
    blockHashes: (heights) => chain.blockHashes(heights),
    balance: (address, asset, at) => chain.balance(address, asset, at),
    balances: (addresses, asset, at) => chain.balances(addresses, asset, at),
    depositAddress: (request) => chain.depositAddress(request),
    scan: (query) => border.around('scan', () => chain.scan(query)),
    cursorAt: (height) => chain.cursorAt(height),
    mandateSetup: (request) => chain.mandateSetup(request),
    mandateStates: (mandates) => border.around('mandateStates', () => chain.mandateStates(mandates)),
    buildCharge: (spec) => border.around('build', () => chain.buildCharge(spec)),
    buildTransfer: (spec: TransferSpec) => border.around('build', () => chain.buildTransfer(spec)),
    buildSweep: (spec) => border.around('build', () => chain.buildSweep(spec)),
    buildMovement: (spec) => border.around('build', () => chain.buildMovement(spec)),
    broadcast: (tx: SignedTx) => border.around('broadcast', () => chain.broadcast(tx)),
    status: (tx: SignedTx) =>
      border.around('status', () => {
        if (unreadable?.has(tx.txId))
          throw new ChainUnavailable(chain.network, 'what became of it is not clear');
        return chain.status(tx);
      }),
    estimateFee: (kind, items) => chain.estimateFee(kind, items),
    precheck: (request) => chain.precheck(request),
    checkMandate: (signed) => chain.checkMandate(signed),
    precheckCharges: (request) => chain.precheckCharges(request),
    nativeBalance: (address) => chain.nativeBalance(address),
    health: () => chain.health(),
  };
}

/** A run with a boundary before and after each of its transactions. */
class BorderedRun extends ActiveRun {
  readonly #border: Border;

  constructor(app: App, job: ClaimedJob, border: Border) {
    super(app.db, job, app.clock.nowMs() + LEASE_MS);
    this.#border = border;
  }

  override step<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#border.around('step', () => super.step(change));
  }

  override stepWith<T>(others: readonly ActiveRun[], change: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#border.around('step', () => super.stepWith(others, change));
  }

  override finish<T>(change: (tx: Tx) => Promise<T>, outcome?: (result: T) => JobOutcome): Promise<T> {
    return this.#border.around('step', () => super.finish(change, outcome));
  }

  override onRevision(): void {}
}

export interface ProcessOptions {
  at?: AtBoundary;
  /** Owners whose leases are free: processes that have died. */
  deadOwners?: readonly number[];
  log?: App['log'];
  /** Ids of transactions of which the nodes show nothing that can be read. */
  unreadable?: ReadonlySet<string>;
  /** Whether it sweeps where a wallet is short. */
  isSweeping?: boolean;
  /** Invoices of charges are paid otherwise by the time these are final. */
  areUnneeded?: boolean;
}

/**
 * One worker process of one merchant, driven from job to job: the real handlers, claims, leases and chain. It holds
 * its leases under a number without a session, so that real workers see it as dead.
 */
export class Process {
  readonly owner = randomInt(1, OWNER_MAX);
  readonly #app: App;
  readonly #merchantId: string;
  readonly #options: ProcessOptions;
  readonly #border: Border;
  readonly #handlers: Map<string, (job: Job, run: JobRun) => Promise<JobOutcome>>;

  constructor(app: App, merchantId: string, options: ProcessOptions = {}) {
    const border = new Border(options.at ?? (() => {}));
    const chains: ChainRegistry = {
      ...app.chains,
      of: (merchant, network) => borderedChain(app.chains.of(merchant, network), border, options.unreadable),
    };
    const deps = { ...app, chains, log: options.log ?? app.log };
    this.#app = app;
    this.#merchantId = merchantId;
    this.#options = options;
    this.#border = border;
    this.#handlers = new Map([
      [PROCESS_JOB, (job: Job, run: JobRun) => processBatch(deps, job, run)],
      [SEND_JOB, (job: Job, run: JobRun) => sendTransfers(deps, job, run)],
      [CREDITED_JOB, (job: Job, run: JobRun) => sweepDeposits(deps, job, run)],
      [SWEPT_JOB, (job: Job, run: JobRun) => settleSweeps(deps, job, run)],
      ...(options.isSweeping === true
        ? ([[INSUFFICIENT_COINS_JOB, (job: Job, run: JobRun) => sweepAll(deps, job, run)]] as const)
        : []),
      [SETTLE_JOB, (job: Job, run: JobRun) => settleBatch(deps, job, run)],
      [CHARGE_DECIDED_JOB, (job: Job, run: JobRun) => bookCharge(deps, job, run, options.areUnneeded)],
    ]);
  }

  /** Boundaries crossed so far. */
  get crossed(): readonly string[] {
    return this.#border.crossed;
  }

  /** Where another one like it can be given up, as `giveUpAt` takes them: 1, 2, … */
  get places(): number[] {
    return this.crossed.map((_, i) => i + 1);
  }

  /** Takes one job that is due within the next minutes and runs it. @returns its kind; undefined when there is none */
  async step(): Promise<string | undefined> {
    return (await this.stepAll(1))[0];
  }

  /** As `step`, with so many jobs concurrently. An error of one is thrown when all have ended. */
  async stepAll(limit: number): Promise<string[]> {
    const jobs = await this.#border.around('claim', () => this.#claim(limit));
    const ends = await Promise.allSettled(jobs.map((job) => this.#run(job)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return jobs.map(({ kind }) => kind);
  }

  async #run(job: ClaimedJob): Promise<void> {
    const run = new BorderedRun(this.#app, job, this.#border);
    const outcome = await this.#handlers.get(job.kind)?.(job, run);
    await this.#border.around('outcome', () => this.#write(job, outcome ?? 'done'));
  }

  /** Runs until nothing is left to do; after each run of the sender, the sent transactions become final. */
  async finish(network: Network): Promise<void> {
    for (let kind = await this.step(); kind !== undefined; kind = await this.step()) {
      if (kind === SEND_JOB) await this.#app.chains.sandbox(this.#merchantId, network).mine(FINAL_BLOCKS);
    }
  }

  #claim(limit: number): Promise<ClaimedJob[]> {
    const nowMs = this.#app.clock.nowMs();
    return claimJobs(this.#app.db, this.#merchantId, {
      nowMs: nowMs + AHEAD_MS,
      kinds: [...this.#handlers.keys()],
      deadOwners: this.#options.deadOwners ?? [],
      lowPriorityKinds: [],
      owner: this.owner,
      fence: newFence(),
      leaseUntilMs: nowMs + LEASE_MS,
      limit,
    });
  }

  async #write(job: ClaimedJob, outcome: JobOutcome): Promise<void> {
    const settlement = settleOutcome(outcome);
    const { db } = this.#app;
    if (settlement.act === 'remove') await removeJobs(db, job.merchantId, [job]);
    else await releaseJobs(db, job.merchantId, [{ lease: job, release: settlement }]);
  }
}
