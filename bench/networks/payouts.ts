import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNetwork, LocalStore } from '../../test/live/local-store.ts';
import type { Faults } from '../../test/nodes/faults.ts';
import { batchOf } from './batch.ts';

const LOOK_MS = 2;
/** Block time after the last broadcast: nothing is measured any more, so blocks come faster than on mainnet. */
const LATER_BLOCK_MS = 250;
const GIVE_UP_MS = 90_000;

export interface Place<Local extends LocalNetwork> {
  store: LocalStore<Local>;
  /** Of the endpoint that the service calls. */
  calls: Faults['calls'];
  /** The method that sends a transaction. */
  broadcast: string;
  /** Methods that read what a process reads for all: the newest blocks, and prices once a minute. */
  shared: readonly string[];
  /** Transactions that the node has taken. */
  countTaken(): number;
  /** As on mainnet. */
  blockMs: number;
}

export interface Sending {
  transactions: number;
  /** From the call that submits the batch, which writes the job, until the node has taken the last transaction. */
  seconds: number;
  /** Calls of the node in this time that broadcast nothing, beside what a process reads for all. */
  otherCalls: number;
}

/** Pays a batch, which is completed then. */
export async function payBatch<Local extends LocalNetwork>(
  place: Place<Local>,
  recipients: readonly string[],
): Promise<Sending> {
  const { store, calls, blockMs } = place;
  const { sdk } = store.merchant;
  const { batch_id: id } = await sdk.payouts.create(batchOf(recipients, store.network, store.asset));
  const countOthers = () =>
    [...calls]
      .filter(([method]) => method !== place.broadcast && !place.shared.includes(method))
      .reduce((sum, [, times]) => sum + times, 0);
  const before = { taken: place.countTaken(), others: countOthers() };
  const begun = performance.now();
  let last: Sending = { transactions: 0, seconds: 0, otherCalls: 0 };
  const watch = setInterval(() => {
    const transactions = place.countTaken() - before.taken;
    // While a block is made some are in neither list.
    if (transactions <= last.transactions) return;
    const seconds = (performance.now() - begun) / 1_000;
    last = { transactions, seconds, otherCalls: countOthers() - before.others };
  }, LOOK_MS);
  try {
    await sdk.payouts.submit(id);
    for (let waitMs = blockMs; ; ) {
      await sleep(waitMs);
      await store.local.mine(1);
      const { status } = await sdk.payouts.retrieve(id);
      if (status === 'completed') return last;
      if (performance.now() - begun > GIVE_UP_MS)
        throw new Error(`the batch is still ${status}: ${JSON.stringify(store.logged.at(-1))}`);
      const isSent = begun + last.seconds * 1_000 + 2 * blockMs < performance.now();
      waitMs = last.transactions > 0 && isSent ? LATER_BLOCK_MS : blockMs;
    }
  } finally {
    clearInterval(watch);
  }
}
