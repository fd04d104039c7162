import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { DEPOSIT_POINTS, WORKER_POINTS } from '../faults/seeded-plan.ts';
import { asOwner } from '../ledger.ts';
import { refunds } from '../refunds/requests.ts';
import { FULL } from '../scale.ts';
import { dieAt, KILLED, openWorker } from './killing.ts';
import type { LocalNetwork, LocalStore } from './local-store.ts';

const LONG = { timeout: 600_000 };
const TOKENS = 10;
const TOKEN = 1_000_000n;
/** Where a transaction may be signed or on the chain and not in the database. Every point in a full run. */
const CHAIN_POINTS = /^(?:build|store|broadcast|decide)\.after/;
const SENDING = WORKER_POINTS.filter((point) => !/^(?:process|settle)\./.test(point)).filter(
  (point) => FULL || CHAIN_POINTS.test(point) || point === 'decide.before-commit',
);
/** Nothing is written before them, or nothing of it is committed at the next one either. */
const FIRST_HALVES = /written$|claimed$|reserved$|\.before$/;
const OWNERS = [
  ...DEPOSIT_POINTS,
  ...['before-commit', 'after-commit'].map((point) => `sweep.${point}`),
  ...['claimed', 'coins-reserved', 'before-commit', 'after-commit'].map((point) => `refund-send.${point}`),
  ...['before', 'before-commit', 'after-commit'].map((point) => `refund-settle.${point}`),
].filter((point) => FULL || !FIRST_HALVES.test(point));

const at = (point: string, place: number) => (place === 0 ? point : `${point}:${place + 1}`);

/**
 * Each point of the sending of each of so many transactions, `point:2` being the second one's, beside a point of those who ordered them. In a
 * run that is not full each point is that of one of them.
 */
function roundsOf(transactions: number) {
  const senders = FULL
    ? SENDING.flatMap((point) => Array.from({ length: transactions }, (_, place) => at(point, place)))
    : SENDING.map((point, i) => at(point, i % transactions));
  const owners = FULL ? OWNERS : OWNERS.slice(-senders.length);
  return Array.from({ length: Math.max(senders.length, owners.length) }, (_, round) => ({
    sender: senders[round % senders.length] ?? '',
    owner: owners[round % owners.length] ?? '',
  }));
}

interface KilledRefunds {
  start: () => Promise<LocalStore<LocalNetwork>>;
  /** Transactions of a refund from an empty hot wallet: its sweep is one, and what a sweep or a payment needs may be others. */
  transactions: number;
  /** Makes a block while workers die. */
  mine: (store: LocalStore<LocalNetwork>) => Promise<void>;
}

/** Tests: two workers at once, which are killed while payments are credited, swept and refunded. */
export function killWhileRefunding({ start, transactions, mine }: KilledRefunds): void {
  let store: LocalStore<LocalNetwork>;
  let workers: NodeUnderTest[] = [];
  const paid: { paymentId: string }[] = [];
  const refunded: { id: string; to: string }[] = [];

  beforeAll(async () => {
    store = await start();
    workers = await Promise.all(['a worker', 'another'].map((name) => openWorker(store, name)));
    await Promise.all(workers.map((worker) => worker.start()));
    await store.untilNamed();
    paid.push(await store.paid(TOKENS));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await store?.stop();
  });

  const shop = () => refunds(store.service, store.merchant);

  /**
   * A payer pays, and an earlier payment goes back: nothing is in the hot wallet, so there is a sweep between them. Nobody is waited for: all
   * workers may be dead.
   */
  async function give(): Promise<void> {
    paid.push(await store.pay(TOKENS));
    const oldest = paid[refunded.length]?.paymentId ?? '';
    if ((await store.payment(oldest)).status !== 'completed') return;
    const to = store.local.wallet(`gets refund ${refunded.length}`);
    const { refund_id: id } = await shop().refund({
      refund_id: `back-${refunded.length}`,
      payment_id: oldest,
      amount: TOKENS * Number(TOKEN),
      currency: store.asset,
      address: to,
    });
    refunded.push({ id, to });
  }

  async function isDone(): Promise<boolean> {
    const newest = await shop().read(refunded.at(-1)?.id ?? '');
    const { status } = await store.payment(paid.at(-1)?.paymentId ?? '');
    return newest.status === 'succeeded' && status === 'completed';
  }

  /** Attempts that nothing has decided, and transfers that more than one of them has paid. */
  const openAttempts = () =>
    asOwner(
      store.service,
      `select attempt_id::text from transfer_attempt where status in ('reserved', 'signed', 'sent')
       union all
       select item::text from transfer_attempt cross join unnest(item_ids) as item
       where status = 'succeeded' group by item having count(*) > 1`,
    );

  test.each(roundsOf(transactions))(
    'fault 4: two workers at once, one dies at $sender, the other at $owner',
    LONG,
    async (points) => {
      const [first, second] = workers;
      if (first === undefined || second === undefined) throw new Error('there are two workers');
      const dying = [
        { worker: first, point: points.sender },
        { worker: second, point: points.owner },
      ];
      const killing = { give, isDone, mine: () => mine(store) };
      expect(await dieAt(dying, killing)).toEqual([KILLED, KILLED]);
    },
  );

  test(
    'fault 4: afterwards each refund has arrived once, what was paid is credited once, and the books agree',
    LONG,
    async () => {
      await Promise.all(workers.map((worker) => worker.start()));
      for (const { paymentId } of paid)
        await store.until(() => store.payment(paymentId), { amount_received: TOKENS * Number(TOKEN) });
      for (const { id } of refunded) await store.until(() => shop().read(id), { status: 'succeeded' });
      await store.until(() => openAttempts(), []);
      const { balances } = await store.chain.balances(
        refunded.map(({ to }) => to),
        store.asset,
        'tip',
      );
      expect([...balances.values()]).toEqual(refunded.map(() => BigInt(TOKENS) * TOKEN));
      await store.expectBooksAgree();
      expect(workers.flatMap(({ surprises }) => surprises)).toEqual([]);
    },
  );
}
