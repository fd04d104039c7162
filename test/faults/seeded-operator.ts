import { setTimeout as sleep } from 'node:timers/promises';
import type { Operator } from '../../packages/server/src/operator.ts';
import { idText } from './check-batches.ts';
import { surplusesThatDiffer } from './check-coins.ts';
import type { Query } from './checker.ts';
import type { GoodClient } from './good-client.ts';
import { decideApprovals, resumeNetworks } from './seeded-people.ts';
import type { Person, World } from './world.ts';

// What the operator's people decide after a round: what became of coins that a reorganisation took for good, and of money
// from sanctioned senders. Two of them say the same each time.

type Decide = (person: Person) => Promise<unknown>;

/** Everything of a merchant that waits for two people, with what they decide of it. */
async function openQuestions(query: Query, { payouts, refunds, payments }: Operator, merchantId: string) {
  const items = await query<{ id: string }>(
    `select item_id as id from payout_item where merchant_id = $1 and status = 'succeeded' and lost_at is not null`,
    [merchantId],
  );
  const lost = await query<{ id: string }>(
    `select own_id as id from refund where merchant_id = $1 and status = 'succeeded' and lost_at is not null`,
    [merchantId],
  );
  const seized = await query<{ id: string; tx_id: string; index: number }>(
    `select payment_id as id, tx_id, index from payment_transaction
     where merchant_id = $1 and kind = 'seized' and status = 'final' and decision is null`,
    [merchantId],
  );
  return [
    ...items.map(({ id }): Decide => {
      const verb = isEven(id) ? payouts.repay : payouts.giveBack;
      return (person) => verb({ item: `pbi_${idText(id)}`, ...person });
    }),
    ...lost.map(({ id }): Decide => {
      const verb = isEven(id) ? refunds.repay : refunds.giveBack;
      return (person) => verb({ refund: id, merchant: `mer_${idText(merchantId)}`, ...person });
    }),
    ...seized.map(({ id, tx_id, index }): Decide => {
      const verb = isEven(id) ? payments.release : payments.keep;
      return (person) => verb({ payment: `pay_${idText(id)}`, txId: `${tx_id}:${index}`, ...person });
    }),
  ];
}

/** By its last character, so that a seed's run decides both ways. */
const isEven = (id: string) => (id.codePointAt(id.length - 1) ?? 0) % 2 === 0;

/**
 * Decides what waits for people.
 *
 * @returns what cannot be decided yet, as a transaction may still be mined or a network is away
 */
async function decideAll(
  query: Query,
  operator: Operator,
  { merchantId }: GoodClient,
  people: readonly Person[],
): Promise<string[]> {
  const waiting: string[] = [];
  for (const decide of await openQuestions(query, operator, merchantId)) {
    for (const person of people) {
      const refusal = await decide(person).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      // A person who voted before a crash has said the same already.
      if (refusal !== undefined && !refusal.includes('decided on this before')) waiting.push(refusal);
    }
  }
  return waiting;
}

const LOOK_EVERY_MS = 150;
const ADVANCE_SECONDS = 10;
const BOOKS_AGREE_WITHIN_MS = 30_000;

const show = (row: object) =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/**
 * What an operator does once something has stopped: lets the networks go on, has people decide what waits for them, and
 * compares the books with the chains until they agree. A reorganisation is found by the next look at the chain, so the
 * comparison is given some time.
 *
 * @returns what still differs or waits after that time: nothing
 */
export async function settleBooks(world: World): Promise<string[]> {
  const query: Query = (text, values) => world.database.query(text, values);
  return await world.operate(async (operator) => {
    const { ledger } = operator;
    for (const until = Date.now() + BOOKS_AGREE_WITHIN_MS; ; await sleep(LOOK_EVERY_MS)) {
      await resumeNetworks(operator);
      const left: string[] = [];
      for (const client of world.merchants) left.push(...(await decideApprovals(world, operator, client)));
      for (const client of world.merchants)
        left.push(...(await decideAll(query, operator, client, world.people.get(client.merchantId) ?? [])));
      const { differences, surpluses, unseen } = await ledger.verify(() => {});
      const strangers = await surplusesThatDiffer(query, [...world.strangers], surpluses);
      left.push(...differences.map(show), ...unseen, ...strangers);
      if (left.length === 0 || Date.now() > until) return left;
      await Promise.all(world.merchants.map((client) => world.moveOn(client, ADVANCE_SECONDS)));
    }
  });
}
