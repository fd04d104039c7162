import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createStateReader } from '../../packages/server/src/monitoring/state.ts';
import { refundCommands } from '../../packages/server/src/operator/refunds.ts';
import { PAYOUT_SETTINGS } from '../../packages/server/src/payouts/index.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/settings.ts';
import { approvalLimitsOf } from '../../packages/server/src/stores/approvers/approval-limits.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { all, refunds, refusal, shop, TOKEN } from './requests.ts';

const FUNDS = 1_000n * BigInt(TOKEN);
const DAY = 86_400;
const PEOPLE = ['Ann', 'Bob', 'Cid'] as const;
type Person = (typeof PEOPLE)[number];
type Values = Partial<Record<keyof typeof REFUND_SETTINGS, unknown>>;

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function configure({ merchantId }: TestMerchant, values: Values): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const setting = REFUND_SETTINGS[name as keyof typeof REFUND_SETTINGS];
    await writeSetting(service.app.db, merchantId, setting as never, value);
  }
}

/** A shop with a payment of 100.00, approvers, and a key for each of them. */
async function approving(values: Values = { approvalAbove: '50.00' }) {
  const calls = await shop(service, { funds: FUNDS });
  const { merchant } = calls;
  await configure(merchant, values);
  const { merchantId, storeId } = merchant;
  const tokens = new Map<string, string>();
  const keys = new Map<string, ReturnType<typeof refunds>>();
  for (const person of PEOPLE) {
    tokens.set(person, await storeApprovers.addApprover(service.app, merchantId, person));
    const input = { merchantId, storeId, name: person, validityDays: 0, scopes: ['read', 'refunds'] };
    const key = await storeKeys.createKey(service.app, { ...input, ownerName: person });
    keys.set(person, refunds(service, { ...merchant, ...key }));
  }
  const decide = async (verb: 'approve' | 'reject', refund: string, as: Person, token = tokens.get(as)) => {
    try {
      const decision = { refund, as, token: token ?? '' };
      const { status, approvals } = await refundCommands(service.app)[verb](decision);
      return `${status} ${approvals}`;
    } catch (error) {
      if (error instanceof Fail) return error.code;
      return error instanceof Error && error.message.startsWith('invariant') ? 'invariant' : String(error);
    }
  };
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await calls.paid();
  let made = 0;
  const own = merchantId.slice(-8);
  /** A refund of so many tokens to a given address, or to one that the payer is asked for. */
  const give = async (
    tokens: number,
    by: { create(body: object): Promise<{ status: number }> } = calls,
    to: string | null = erc20.succeed,
  ) => {
    const refundId = `${own}-${++made}`;
    const address = to === null ? {} : { address: to };
    const body = {
      refund_id: refundId,
      payment_id: id,
      amount: tokens * TOKEN,
      currency: 'USDT',
      ...address,
    };
    expect((await by.create(body)).status).toBe(200);
    return refundId;
  };
  const waiting = async () =>
    (await refundCommands(service.app).awaitingApproval()).map((one) => one.refund_id);
  const isHeld = async (refundId: string) => (await waiting()).includes(refundId);
  const by = (person: string) => keys.get(person) ?? calls;
  return { ...calls, decide, give, waiting, isHeld, by, addresses: erc20, paymentId: id };
}

test('above the threshold a refund waits until it is approved, then it is paid once', async () => {
  const { merchant, give, decide, read, ended, isHeld, waiting, balance } = await approving();
  const small = await give(40);
  expect(await ended(small)).toMatchObject({ status: 'succeeded' });
  const large = await give(51);
  await merchant.sdk.testHelpers.advanceClock(DAY);
  expect(await read(large)).toMatchObject({ status: 'pending', completed_at: null });
  expect(await isHeld(large)).toBe(true);
  expect(await balance()).toMatchObject({ refund_hold: 51 * TOKEN });
  const waits = await createStateReader(service.app.db, service.app.clock)();
  expect(waits.approvals).toEqual({ payouts: 0, refunds: (await waiting()).length });
  expect(await decide('approve', large, 'Ann')).toBe('pending 1');
  expect(await decide('approve', large, 'Bob')).toBe('invalid_request');
  expect(await ended(large)).toMatchObject({ status: 'succeeded' });
  expect(await isHeld(large)).toBe(false);
});

test('a sandbox merchant has no limits by default; its large refunds go at once', async () => {
  const { give, ended, isHeld } = await approving({});
  const refundId = await give(100);
  expect(await isHeld(refundId)).toBe(false);
  expect(await ended(refundId)).toMatchObject({ status: 'succeeded' });
});

test('a live merchant has both limits low by default: 1,000.00 for payouts, 500.00 for refunds', () => {
  for (const [settings, coins] of [
    [REFUND_SETTINGS, 500n],
    [PAYOUT_SETTINGS, 1_000n],
  ] as const) {
    const { approvalAbove, unapprovedPerDay } = settings;
    const live = {
      approvalAbove: approvalAbove.fallback('live'),
      unapprovedPerDay: unapprovedPerDay.fallback('live'),
    };
    const limit = coins * BigInt(TOKEN);
    expect(approvalLimitsOf(live)).toEqual({ above: limit, perDay: limit });
  }
});

test('refunds at once, each below the threshold: no more than the limit of 24 hours goes unapproved', async () => {
  const { merchant, give, waiting, isHeld, cancel, by, paid, refund, addresses } = await approving({
    approvalAbove: '20.00',
    unapprovedPerDay: 'threshold',
    delaySeconds: 600,
  });
  // Of as many payments: refunds of one wait for each other by its row.
  const payments = await Promise.all(Array.from({ length: 5 }, () => paid()));
  const part = { amount: 10 * TOKEN, currency: 'USDT', address: addresses.succeed };
  const made = payments.map(({ id }) => `at-once-${id}`);
  await Promise.all(payments.map(({ id }, i) => refund({ ...part, refund_id: made[i], payment_id: id })));
  const held = async () => (await waiting()).filter((one) => made.includes(one));
  expect(await held()).toHaveLength(3);
  // What is canceled goes nowhere; all keys and stores of the merchant share the limit.
  const waits = await held();
  await cancel(made.find((one) => !waits.includes(one)) ?? '');
  expect(await isHeld(await give(10, by('Ann')))).toBe(false);
  expect(await isHeld(await give(1, by('Bob')))).toBe(true);
  await merchant.sdk.testHelpers.advanceClock(DAY);
  expect(await isHeld(await give(20))).toBe(false);
});

test('a refund with a claim link is claimed first: its limits are checked and its 24 hours begin with its address', async () => {
  const { merchant, give, decide, isHeld, claim, ended, read, addresses } = await approving({
    approvalAbove: '50.00',
    unapprovedPerDay: '60.00',
  });
  const large = await give(51, undefined, null);
  const [early, late] = [await give(24, undefined, null), await give(25, undefined, null)];
  expect(await isHeld(large)).toBe(false);
  expect(await decide('approve', large, 'Ann')).toBe('invalid_request');
  await merchant.sdk.testHelpers.advanceClock(3 * DAY);
  const link = (await read(large)).claim_url ?? '';
  expect((await claim(large, addresses.succeed)).status).toBe(200);
  expect(await isHeld(large)).toBe(true);
  expect(await (await fetch(link)).text()).toContain('Your address is noted');
  await claim(early, addresses.succeed);
  await merchant.sdk.testHelpers.advanceClock(DAY - 100);
  await configure(merchant, { unapprovedPerDay: '40.00' });
  await claim(late, addresses.succeed);
  expect(await isHeld(late)).toBe(true);
  expect(await ended(early)).toMatchObject({ status: 'succeeded' });
  // Seven days from the claim, not from the creation.
  await merchant.sdk.testHelpers.advanceClock(5 * DAY);
  expect(await decide('approve', large, 'Ann')).toBe('pending 1');
  expect(await ended(large)).toMatchObject({ status: 'succeeded', address: addresses.succeed });
  await merchant.sdk.testHelpers.advanceClock(3 * DAY);
  expect(await read(late)).toMatchObject({ status: 'canceled' });
}, 90_000);

test('rejected, unanswered for seven days or canceled: its money is released, with an event', async () => {
  const { merchant, give, decide, read, cancel, balance } = await approving({ approvalAbove: '10.00' });
  const before = await balance();
  const rejected = await give(11);
  const approved = await configure(merchant, { approvals: 2 }).then(() => give(12));
  expect(await decide('reject', rejected, 'Ann')).toBe('canceled 0');
  expect(await decide('approve', approved, 'Ann')).toBe('pending 1');
  expect(await decide('reject', approved, 'Ann')).toBe('invalid_request');
  expect(await decide('reject', approved, 'Bob')).toBe('canceled 0');
  const canceled = await give(13);
  expect((await cancel(canceled)).status).toBe(200);
  const unanswered = await give(14);
  await merchant.sdk.testHelpers.advanceClock(7 * DAY - 60);
  expect(await read(unanswered)).toMatchObject({ status: 'pending' });
  await merchant.sdk.testHelpers.advanceClock(61);
  const over = [rejected, approved, canceled, unanswered];
  for (const refundId of over) {
    expect(await read(refundId)).toMatchObject({ status: 'canceled', completed_at: expect.any(Number) });
    expect(await decide('approve', refundId, 'Cid')).toBe('invalid_request');
  }
  expect(await balance()).toEqual(before);
  const news = await all(merchant.sdk.events.list({ type: 'refund.updated' }));
  const objects = await Promise.all(over.map(read));
  expect(news.reverse().map(({ sequence, data }) => ({ sequence, ...data }))).toEqual(
    objects.map((object) => ({
      sequence: 1,
      object,
      previous_attributes: { status: 'pending', completed_at: null },
    })),
  );
}, 90_000);

test('the delay runs from when the address was known, also after an early approval', async () => {
  const { merchant, give, decide, read, cancel, ended } = await approving({
    approvalAbove: '10.00',
    delaySeconds: 3_600,
  });
  const [early, regret] = [await give(11), await give(12)];
  expect(await decide('approve', early, 'Ann')).toBe('pending 1');
  await decide('approve', regret, 'Ann');
  await merchant.sdk.testHelpers.advanceClock(3_000);
  expect(await read(early)).toMatchObject({ status: 'pending' });
  expect((await cancel(regret)).status).toBe(200);
  await merchant.sdk.testHelpers.advanceClock(700);
  expect(await ended(early)).toMatchObject({ status: 'succeeded' });
});

const story = fc.record({
  creates: fc.constantFrom(...PEOPLE, 'nobody'),
  claimed: fc.boolean(),
  verb: fc.constantFrom('approve' as const, 'reject' as const),
});

test('the owner of the key that created a refund neither approves nor rejects it; everybody else does', async () => {
  const { give, decide, claim, cancel, by, addresses } = await approving({ approvalAbove: '1.00' });
  await fc.assert(
    fc.asyncProperty(story, async ({ creates, claimed, verb }) => {
      const refundId = await give(2, by(creates), claimed ? null : addresses.stuck);
      if (claimed) expect((await claim(refundId, addresses.stuck)).status).toBe(200);
      const others = PEOPLE.filter((person) => person !== creates);
      if (others.length < PEOPLE.length)
        expect(await decide(verb, refundId, creates as Person)).toBe('forbidden');
      expect(await decide(verb, refundId, others[0] ?? 'Ann', 'fla_wrong')).toBe('forbidden');
      expect(await decide(verb, refundId, others[0] ?? 'Ann')).toBe(
        verb === 'approve' ? 'pending 1' : 'canceled 0',
      );
      await cancel(refundId);
    }),
    { numRuns: scaled(60, 10) },
  );
}, 90_000);

test('approvals at once: two people make two, and the refund is sent once', async () => {
  const { merchant, give, decide, ended, addresses } = await approving({
    approvalAbove: '1.00',
    approvals: 2,
  });
  const refundId = await give(30);
  const said = await Promise.all(
    PEOPLE.flatMap((name) => [1, 2].map(() => decide('approve', refundId, name))),
  );
  expect(said.sort()).toEqual([
    ...Array.from({ length: 4 }, () => 'invalid_request'),
    'pending 1',
    'pending 2',
  ]);
  expect(await ended(refundId)).toMatchObject({ status: 'succeeded' });
  const transfers = [];
  for await (const one of merchant.sdk.testHelpers.transfers('erc20', addresses.succeed)) transfers.push(one);
  expect(transfers).toHaveLength(1);
});

test.each(['amount', 'address'] as const)(
  'after the %s was changed in the database nobody can approve it',
  async (what) => {
    const { merchant, give, decide, cancel, addresses } = await approving();
    const refundId = await give(51);
    const write = (value: unknown) =>
      asOwner(service, `update refund set ${what} = $1 where merchant_id = $2 and own_id = $3`, [
        value,
        merchant.merchantId,
        refundId,
      ]);
    await write(what === 'amount' ? 52 * TOKEN : addresses.stuck);
    expect(await decide('approve', refundId, 'Ann')).toBe('invariant');
    await write(what === 'amount' ? 51 * TOKEN : addresses.succeed);
    expect((await cancel(refundId)).status).toBe(200);
  },
);

test('a database constraint rejects a refund that is sent without its approval', async () => {
  const { merchant, give, cancel } = await approving();
  const refundId = await give(51);
  const where = 'where merchant_id = $1 and own_id = $2';
  for (const change of [
    `status = 'processing'`,
    `status = 'succeeded', completed_at = 1`,
    'required_approvals = 0',
    'address = null',
    'approval_digest = null',
  ]) {
    const written = asOwner(service, `update refund set ${change} ${where}`, [merchant.merchantId, refundId]);
    await expect(written, change).rejects.toMatchObject({ code: '23514' });
  }
  expect((await cancel(refundId)).status).toBe(200);
});

test('creating and canceling refunds needs their own scope; reading needs read', async () => {
  const { merchant, paymentId, give, read } = await approving({});
  const refundId = await give(1);
  const { merchantId, storeId } = merchant;
  const keyWith = async (...scopes: string[]) => {
    const key = await storeKeys.createKey(service.app, {
      merchantId,
      storeId,
      name: 'K',
      validityDays: 0,
      scopes,
    });
    return refunds(service, { ...merchant, ...key });
  };
  const writer = await keyWith('read', 'write', 'payouts');
  expect((await writer.create({ payment_id: paymentId })).status).toBe(403);
  expect((await writer.cancel(refundId)).status).toBe(403);
  expect(await writer.read(refundId)).toMatchObject({ refund_id: refundId });
  const refunder = await keyWith('refunds');
  expect((await refunder.call(`/refunds/${refundId}`)).status).toBe(403);
  const body = { payment_id: paymentId, refund_id: 'by-scope', amount: TOKEN, currency: 'USDT' };
  expect((await refunder.create(body)).status).toBe(200);
  expect((await refunder.cancel('by-scope')).status).toBe(200);
  expect(await read('by-scope')).toMatchObject({ status: 'canceled' });
});

test('an id that several merchants use needs the merchant; an unknown one is not found', async () => {
  const [first, second] = [await approving(), await approving()];
  for (const { create, paymentId, addresses } of [first, second]) {
    const body = { refund_id: 'same-id', payment_id: paymentId, address: addresses.succeed };
    expect(refusal(await create(body))).toBe('200');
  }
  expect(await first.decide('approve', 'same-id', 'Ann')).toBe('invalid_request');
  expect(await first.decide('approve', 'no-such', 'Ann')).toBe('resource_not_found');
  for (const { cancel } of [first, second]) await cancel('same-id');
});
