import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Finished, florin } from '../florin-command.ts';
import { World } from './world.ts';

const UNITS = 100_000_000;
const BEFORE_COMMIT = ['seizure.voted', 'seizure.marked', 'seizure.posted', 'seizure.before-commit'] as const;
const AFTER_COMMIT = 'seizure.after-commit';
/** What the second person's decision books of the whole transfer, and what it makes of the payment. */
const DECISIONS = [
  {
    verb: 'release',
    books: ['custody_hold → seized', 'held → custody', 'available → held'],
    status: 'completed',
  },
  { verb: 'keep', books: ['custody_hold → seized', 'kept → float'], status: 'pending' },
] as const;
type Verb = (typeof DECISIONS)[number]['verb'];

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

/** A payment frozen by a transfer of a sanctioned sender, on which the first person has decided. */
async function decidedOnce(verb: Verb): Promise<{ payment: string; txId: string }> {
  const { merchant } = world;
  const session = await merchant.insist('POST', '/checkout/sessions/create', {
    amount: UNITS,
    currency: 'USDT',
  });
  const paid = await merchant.insist('POST', `/test_helpers/checkout/sessions/${String(session.id)}/pay`, {
    currency: 'USDT',
    network: 'erc20',
    from: 'sanctioned',
  });
  expect(paid.status).toBe('frozen');
  const [transaction] = paid.transactions as { tx_id: string }[];
  const verdict = { payment: String(paid.id), txId: transaction?.tx_id ?? '' };
  await world.operate(({ payments }) => payments[verb]({ ...verdict, ...world.approvers[0] }));
  return verdict;
}

/** The second person decides, in a process of its own that may die on the way. */
async function decide(
  verb: Verb,
  { payment, txId }: { payment: string; txId: string },
  crashPoint?: string,
): Promise<Finished> {
  const dying = crashPoint === undefined ? {} : { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: crashPoint };
  const [, second] = world.approvers;
  const env = { ...world.operatorEnv, FLORIN_APPROVER_TOKEN: second.token, ...dying };
  return await florin(['payments', verb, payment, txId, '--as', second.as, '--json'], { env });
}

const statusOf = async (payment: string) =>
  (await world.merchant.insist('GET', `/payment/${payment}`)).status;

/** What was booked for a payment since its transfer was seized: credit to debit as the second half reads. */
async function booked(payment: string): Promise<string[]> {
  const { data } = await world.merchant.insist('GET', `/ledger_entries?cause=${payment}&limit=100`);
  const entries = data as { debit: string; credit: string; amount: number }[];
  expect(entries.filter(({ amount }) => amount !== UNITS)).toEqual([]);
  const kind = (account: string) => account.split(':', 1)[0];
  return entries.map(({ debit, credit }) => `${kind(credit)} → ${kind(debit)}`).sort();
}

const SEIZED = ['custody → custody_hold', 'seized → custody'];

describe.each(DECISIONS)('$verb', ({ verb, books, status }) => {
  const after = [...SEIZED, ...books].sort();

  test.each(BEFORE_COMMIT)(
    'fault 3: a second person whose process dies at %s has decided nothing; repeated, it is booked once',
    async (at) => {
      const verdict = await decidedOnce(verb);
      expect(await decide(verb, verdict, at)).toMatchObject({ code: null, stdout: '' });
      expect(await statusOf(verdict.payment)).toBe('frozen');
      expect(await booked(verdict.payment)).toEqual(SEIZED);
      const repeated = await decide(verb, verdict);
      expect(JSON.parse(repeated.stdout)).toMatchObject({ done: true, agreed: 2, payment: { status } });
      expect(await booked(verdict.payment)).toEqual(after);
    },
    60_000,
  );

  test('fault 3: one that dies after its commit has decided; repeated, it is refused and changes nothing', async () => {
    const verdict = await decidedOnce(verb);
    expect(await decide(verb, verdict, AFTER_COMMIT)).toMatchObject({ code: null, stdout: '' });
    expect(await statusOf(verdict.payment)).toBe(status);
    expect(await booked(verdict.payment)).toEqual(after);
    const repeated = await decide(verb, verdict);
    expect([repeated.code, repeated.stdout]).toEqual([1, '']);
    expect(await statusOf(verdict.payment)).toBe(status);
    expect(await booked(verdict.payment)).toEqual(after);
  }, 60_000);
});

test('fault 3: after all of it nothing is lost or double', async () => {
  expect(await world.judge()).toEqual([]);
}, 150_000);
