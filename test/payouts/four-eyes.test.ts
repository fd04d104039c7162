import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { passkeys } from '../../packages/server/src/console/accounts/index.ts';
import { makeAuthenticator } from '../../packages/server/src/console/accounts/test-authenticator.ts';
import { askForDecision, signedByPasskey } from '../../packages/server/src/console/passkey-decisions.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { decideApproval, payoutStatement } from '../../packages/server/src/payouts/approvals/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/index.ts';
import { signIn } from '../console/people.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Calls, caller, configure, draft, TO, verdict } from './requests.ts';

let service: TestService;
let merchant: TestMerchant;
let calls: Calls;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  merchant = await service.createMerchant();
  calls = caller(service, merchant);
});
afterEach(() => expectLedgerWhole(service));

/** Submits batches of these sums concurrently. @returns how many got which answer */
async function submitAtOnce(sums: readonly string[], through: Calls = calls) {
  const batches = [];
  for (const sum of sums) batches.push(await draft(through, [sum]));
  const answers = await Promise.all(batches.map(({ batch_id }) => through.submit(batch_id)));
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[verdict(answer)] = (counts[verdict(answer)] ?? 0) + 1;
  return { counts, batches };
}
const statusOf = async (sum: string, through: Calls = calls) => {
  const { batch_id } = await draft(through, [sum]);
  return verdict(await through.submit(batch_id)).replace('200 ', '');
};
/** No worker runs here that would do what is due on the way. */
const advance = (seconds: number) =>
  transact(service.app.db, (tx) => stores.moveClock(tx, merchant.merchantId, seconds));

test('five batches at once, each at the threshold: one goes unapproved', async () => {
  await configure(service, merchant, { unapprovedPerDay: 'threshold' });
  const { counts } = await submitAtOnce(Array.from({ length: 5 }, () => '10000.00'));
  expect(counts).toEqual({ '200 pending': 1, '200 pending_approval': 4 });
});

test('by default a sandbox merchant sends 100,000.00 unapproved in 24 hours, all its tokens and stores together', async () => {
  const second = caller(service, await service.addStore(merchant));
  const { counts } = await submitAtOnce(Array.from({ length: 6 }, () => '10000.00'));
  expect(counts).toEqual({ '200 pending': 6 });
  const other = await draft(second, ['9999.99', '0.01'], { currency: 'USDC', network: 'spl' });
  expect(verdict(await second.submit(other.batch_id))).toBe('200 pending');
  const rest = await submitAtOnce(
    Array.from({ length: 5 }, () => '7500.01'),
    second,
  );
  expect(rest.counts).toEqual({ '200 pending': 3, '200 pending_approval': 2 });
  const stranger = caller(service, await service.createMerchant());
  expect(await statusOf('10000.00', stranger)).toBe('pending');
});

test('the 24 hours roll by the merchant’s clock, and begin with each batch', async () => {
  await configure(service, merchant, { unapprovedPerDay: '30.00' });
  expect(await statusOf('20.00')).toBe('pending');
  await advance(43_200);
  expect(await statusOf('10.00')).toBe('pending');
  expect(await statusOf('0.01')).toBe('pending_approval');
  await advance(43_100);
  expect(await statusOf('0.01')).toBe('pending_approval');
  await advance(100);
  expect(await statusOf('20.00')).toBe('pending');
  expect(await statusOf('0.01')).toBe('pending_approval');
});

test('canceled and approved batches do not count, failed ones do', async () => {
  await configure(service, merchant, { approvalAbove: '30.00', unapprovedPerDay: '30.00' });
  const { decide } = await keysOfPeople();
  const { batches } = await submitAtOnce(['30.00']);
  await calls.cancel(batches[0]?.batch_id ?? '');
  const large = await submitAtOnce(['31.00']);
  expect(await decide('approve', large.batches[0]?.batch_id ?? '', 'Ann')).toBe('pending');
  const failing = await draft(calls, ['29.00'], { to: 'fail' });
  expect(verdict(await calls.submit(failing.batch_id))).toBe('200 pending');
  const worker = await service.startWorker();
  await expect
    .poll(async () => (await calls.read(failing.batch_id)).status, { timeout: 20_000 })
    .toBe('failed');
  await worker.stop(5_000);
  expect(await statusOf('1.01')).toBe('pending_approval');
  expect(await statusOf('1.00')).toBe('pending');
});

test('switched off the limit does not apply, and a refused submit does not count', async () => {
  await configure(service, merchant, { unapprovedPerDay: 'off', approvalAbove: '100.00' });
  const { counts } = await submitAtOnce(['100.00', '100.00', '100.00']);
  expect(counts).toEqual({ '200 pending': 3 });
  await configure(service, merchant, { unapprovedPerDay: '400.00', dailyQuota: '300.00' });
  expect(await statusOf('100.00')).toBe('400 quota_blocked');
  await configure(service, merchant, { dailyQuota: '1000.00' });
  expect(await statusOf('100.00')).toBe('pending');
  expect(await statusOf('0.01')).toBe('pending_approval');
});

const PEOPLE = ['Ann', 'Bob', 'Cid'] as const;
type Person = (typeof PEOPLE)[number];

/** Each with a key of their own; `nobody` has one without an owner. */
async function keysOfPeople() {
  const { merchantId, storeId } = merchant;
  const tokens = new Map<string, string>();
  const keys = new Map<string, Calls>([['nobody', calls]]);
  for (const person of PEOPLE) {
    tokens.set(person, await storeApprovers.addApprover(service.app, merchantId, person));
    const input = { merchantId, storeId, name: person, validityDays: 0, scopes: ['read', 'payouts'] };
    const key = await storeKeys.createKey(service.app, { ...input, ownerName: person });
    keys.set(person, caller(service, { ...merchant, ...key }));
  }
  const decide = async (what: 'approve' | 'reject', batch: string, as: Person) => {
    try {
      const decision = { batch, as, token: tokens.get(as) ?? '' };
      return (await payoutCommands(service.app)[what](decision)).status;
    } catch (error) {
      if (error instanceof Fail) return error.code;
      throw error;
    }
  };
  return { decide, by: (person: string) => keys.get(person) ?? calls };
}

const actor = fc.constantFrom(...PEOPLE, 'nobody' as const);
const story = fc.record({
  creates: actor,
  /** Each mends the first item or drops the last one. */
  edits: fc.array(fc.record({ by: actor, drops: fc.boolean() }), { maxLength: 3 }),
  /** Submitted in vain before, with an item that cannot be paid. */
  failsToSubmit: fc.option(actor, { nil: undefined }),
  submits: actor,
  decides: fc.constantFrom('approve' as const, 'reject' as const),
});

type Story = typeof story extends fc.Arbitrary<infer S> ? S : never;

test('people who created, edited or submitted a batch can neither approve nor reject it; everybody else can', async () => {
  await configure(service, merchant, { approvalAbove: '10.00' });
  const { decide, by } = await keysOfPeople();
  const run = async ({ creates, edits, failsToSubmit, submits, decides }: Story) => {
    const authors = new Set<string>([creates, submits, ...edits.map((edit) => edit.by)]);
    const { batch_id } = await draft(by(creates), ['20.00', '1.00', '1.00', '1.00', '1.00']);
    const edit = async (person: string, drops: boolean, address: string = TO.erc20.succeed) => {
      const items = await by(person).items(batch_id);
      const path = `/payout-batches/${batch_id}/items/${items.at(drops ? -1 : 0)?.item_id}`;
      const body = JSON.stringify({ network: 'erc20', address, amount: '20.00' });
      const answer = await by(person).call(path, drops ? { method: 'DELETE' } : { method: 'PUT', body });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    };
    if (failsToSubmit !== undefined) {
      authors.add(failsToSubmit);
      await edit(failsToSubmit, false, 'no address');
      expect(verdict(await by(failsToSubmit).submit(batch_id))).toBe('400 batch_cannot_submit');
      await edit(failsToSubmit, false);
    }
    for (const { by: person, drops } of edits) await edit(person, drops);
    expect(verdict(await by(submits).submit(batch_id))).toBe('200 pending_approval');
    const others = PEOPLE.filter((person) => !authors.has(person));
    for (const person of PEOPLE.filter((one) => authors.has(one))) {
      expect([person, await decide(decides, batch_id, person)]).toEqual([person, 'forbidden']);
    }
    const [first] = others;
    if (first !== undefined) {
      expect(await decide(decides, batch_id, first)).toBe(decides === 'approve' ? 'pending' : 'rejected');
    }
    await calls.cancel(batch_id);
  };
  await fc.assert(fc.asyncProperty(story, run), { numRuns: scaled(100, 12) });
});

const STEPS = ['sign', 'vote', 'reject', 'die', 'remove', 'return'] as const;
interface Known {
  isPresent: boolean;
  hasVoted: boolean;
  signature: 'none' | 'counts' | 'dead';
}
type Counts = { required: number; wanted: number };

/** What has to become of an approval, by the rule alone; `known` is as after it. */
function expectedOf(known: readonly Known[], { required, wanted }: Counts, by: string): string {
  const present = known.filter(({ isPresent }) => isPresent);
  const voters = present.filter(({ hasVoted }) => hasVoted);
  const signed = present.filter(({ signature }) => signature === 'counts').length;
  if (voters.length >= required && signed >= wanted) return 'done';
  if (by === 'signs') return 'waits';
  if (by === 'repeats') return 'decided before';
  const again = voters.filter(({ signature }) => signature === 'dead').length;
  const canSign = Math.max(0, required - voters.length) + again;
  return wanted - signed <= canSign && voters.length <= required ? 'waits' : 'signature';
}

test('in any order of votes, signatures, lost passkeys and removals: done once votes and signatures are complete, never before', {
  timeout: 60_000,
}, async () => {
  const { app } = service;
  const { merchantId } = merchant;
  await configure(service, merchant, { approvalAbove: '1.00' });
  const caller = { merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const people = await Promise.all(
    [0, 1, 2].map(async () => {
      const person = await signIn(service, merchant, 'approver');
      const mayApprove = () => Promise.resolve(true);
      const approverId = await storeApprovers.approverOf(app, caller, { ...person, mayApprove });
      return { ...person, approverId, key: makeAuthenticator() };
    }),
  );
  type Someone = (typeof people)[number];
  const losesPasskey = ({ userId }: Someone) =>
    app.db.deleteFrom('console_passkey').where('user_id', '=', userId).execute();
  const setRemoved = async ({ approverId }: Someone, removed_at: bigint | null) => {
    await app.db.updateTable('approver').set({ removed_at }).where('approver_id', '=', approverId).execute();
  };
  const signs = async (one: Someone, batchId: string) => {
    const deciding = { caller, user: { user_id: one.userId, email: one.email }, publicUrl: service.baseUrl };
    const subject = await payoutStatement(app.db, merchantId, batchId);
    const asked = await askForDecision(app, deciding, { subject, decision: 'approved' });
    const { origin } = passkeys.relyingParty(service.baseUrl);
    const credential = one.key.get({ challenge: asked.options.challenge, origin });
    return await signedByPasskey(app, deciding, { validUntil: asked.valid_until, credential });
  };
  const decides = async (one: Someone, batchId: string, how: 'sign' | 'vote' | 'reject') => {
    const approval = { batchId, approverId: one.approverId } as const;
    try {
      const { status } = await decideApproval(app, caller, {
        ...approval,
        decision: how === 'reject' ? 'rejected' : 'approved',
        signed: how === 'sign' ? await signs(one, batchId) : undefined,
      });
      return { pending_approval: 'waits', pending: 'done', rejected: 'rejected' }[String(status)];
    } catch (error) {
      if (!(error instanceof Fail)) throw error;
      if (error.code === 'forbidden') return 'forbidden';
      return error.message.includes('decided on this before') ? 'decided before' : error.details.param;
    }
  };
  const counts = fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.nat({ max: 2 }))
    .map(([required, wanted]) => ({ required, wanted: Math.min(required, wanted) }));
  const step = fc.tuple(fc.nat({ max: 2 }), fc.constantFrom(...STEPS, 'sign' as const, 'vote' as const));
  await fc.assert(
    fc.asyncProperty(counts, fc.array(step, { maxLength: 14 }), async (wants, steps) => {
      const { batch_id } = await draft(calls, ['2']);
      expect(verdict(await calls.submit(batch_id))).toBe('200 pending_approval');
      const batchId = decodeId('payoutBatch', batch_id) ?? '';
      const { required: required_approvals, wanted: required_signatures } = wants;
      await app.db
        .updateTable('payout_batch')
        .set({ required_approvals, required_signatures })
        .where('batch_id', '=', batchId)
        .execute();
      const known: Known[] = people.map(() => ({ isPresent: true, hasVoted: false, signature: 'none' }));
      for (const one of people) {
        await setRemoved(one, null);
        await losesPasskey(one);
      }
      for (const [place, what] of steps) {
        const [one, mine] = [people[place], known[place]];
        if (one === undefined || mine === undefined) throw new Error('nobody');
        if (what === 'die') {
          await losesPasskey(one);
          if (mine.signature === 'counts') mine.signature = 'dead';
          continue;
        }
        if (what === 'remove' || what === 'return') {
          await setRemoved(one, what === 'remove' ? 1n : null);
          mine.isPresent = what === 'return';
          continue;
        }
        if (what === 'sign' && mine.signature !== 'counts') {
          await losesPasskey(one);
          one.key = makeAuthenticator();
          const row = { name: 'Key', counter: 0, created_at_ms: 0, used_at_ms: null, user_id: one.userId };
          const passkey = { ...one.key.kept, ...row };
          await app.db.insertInto('console_passkey').values(passkey).execute();
        }
        const said = await decides(one, batchId, what);
        if (!mine.isPresent) {
          expect(said).toBe('forbidden');
          continue;
        }
        if (what === 'reject') {
          expect(said).toBe(mine.hasVoted ? 'decided before' : 'rejected');
          if (said === 'rejected') return;
          continue;
        }
        const isSigning = what === 'sign' && (!mine.hasVoted || mine.signature !== 'counts');
        const after: Known = { ...mine, hasVoted: true, ...(isSigning && { signature: 'counts' }) };
        const by = isSigning ? 'signs' : mine.hasVoted ? 'repeats' : 'votes';
        expect(said).toBe(expectedOf(known.with(place, after), wants, by));
        if (said === 'done') return;
        if (said === 'waits') known[place] = after;
      }
    }),
    { numRuns: scaled(150, 15) },
  );
});
