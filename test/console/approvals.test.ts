import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { passkeys, users } from '../../packages/server/src/console/accounts/index.ts';
import { approvalCommands } from '../../packages/server/src/operator/approvals.ts';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/index.ts';
import {
  addApprover,
  approverOf,
  linkApprover,
  listApprovers,
  removeApprover,
} from '../../packages/server/src/stores/approvers/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/index.ts';
import { configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addPasskey, decideByPasskey, type PasskeyAnswer } from './passkeys.ts';
import { forgetProof, type Person, signIn } from './people.ts';
import { submitBatch } from './waiting-batch.ts';

const LONG_MS = 120_000;

let service: TestService;
let merchant: TestMerchant;
let address: string;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  await configure(service, merchant, { approvalAbove: '1.00' });
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.approvalAbove, '1.00');
  address = (await merchant.sdk.testHelpers.addresses()).erc20.succeed;
}, LONG_MS);
afterAll(() => service.stop());

const own = (path: string) => `/console/api/merchants/${encodeId('merchant', merchant.merchantId)}${path}`;

interface Ending {
  ends_at: number;
  submitted_at: number;
}

const submitted = (by: Person) => submitBatch(by, address);

const decide = async (by: Person, batch: string, decision = 'approved', digest?: string) => {
  const { status, body } = await by.call(own(`/payout-batches/${batch}/decision`), {
    method: 'POST',
    body: { decision, digest },
  });
  const { error } = body as { error?: { message: string } };
  return [status, status === 200 ? body.status : error?.message];
};

test('a batch waits for somebody else, who decides signed in, after a fresh proof, once', {
  timeout: LONG_MS,
}, async () => {
  const [finance, owner, approver] = [
    await signIn(service, merchant, 'finance'),
    await signIn(service, merchant, 'owner'),
    await signIn(service, merchant, 'approver'),
  ];
  const batch = await submitted(finance);
  const { body } = await approver.call(own('/approvals'));
  expect(body).toMatchObject({
    payout_batches: [{ batch_id: batch, status: 'pending_approval' }],
    refunds: [],
    payout_batches_to_sign: [],
    refunds_to_sign: [],
  });
  const { now, payout_batches: [first] = [] }: { now: number; payout_batches?: Ending[] } = Object(body);
  expect(Number(first?.ends_at) - Number(first?.submitted_at)).toBe(7 * 86_400);
  expect(Math.abs(now - Number(first?.submitted_at))).toBeLessThan(60);
  expect(await decide(finance, batch)).toEqual([403, expect.stringContaining('role')]);
  await forgetProof(service.app, approver);
  expect(await decide(approver, batch)).toEqual([403, expect.stringContaining('password')]);
  await approver.call('/console/api/proof', { method: 'POST', body: { password: 'gravel-otter-lantern' } });
  const shown: { digest: string } = Object(
    (await approver.call(own(`/payout-batches/${batch}/decision`))).body,
  );
  expect(await decide(approver, batch, 'approved', `0x${'00'.repeat(32)}`)).toEqual([
    409,
    expect.stringContaining('read it again'),
  ]);
  expect(await decide(approver, batch, 'approved', shown.digest)).toEqual([200, 'pending']);
  expect(await decide(approver, batch)).toEqual([
    400,
    expect.stringContaining('only a batch that is pending_approval'),
  ]);
  const theirs = await submitted(owner);
  expect(await decide(owner, theirs)).toEqual([403, expect.stringContaining('created, edited or submitted')]);
  expect(await decide(approver, theirs, 'rejected')).toEqual([200, 'rejected']);
  expect(await decide(approver, 'pb_unknown')).toEqual([404, expect.any(String)]);
  const registered = await listApprovers(service.app, merchant.merchantId);
  expect(registered.map(({ name }) => name).toSorted()).toEqual([approver.email, owner.email].toSorted());
});

test('nobody counts twice, by token and signed in, and who may approve no more does not count', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId } = merchant;
  const finance = await signIn(service, merchant, 'finance');
  const approver = await signIn(service, merchant, 'approver');
  await addApprover(service.app, merchantId, approver.email);
  const batch = await submitted(finance);
  expect(await decide(approver, batch)).toEqual([409, expect.stringContaining('florin approvers link')]);
  await linkApprover(service.app, merchantId, { name: approver.email, userId: approver.userId });
  await users.changeRole(service.app, { merchantId, userId: approver.userId, role: 'viewer' });
  const present = async () =>
    (await listApprovers(service.app, merchantId)).some(({ name }) => name === approver.email);
  // Whom the operator registered stays as the operator left them.
  expect([await present(), (await decide(approver, batch))[0]]).toEqual([true, 403]);
  await users.changeRole(service.app, { merchantId, userId: approver.userId, role: 'approver' });
  expect([await present(), await decide(approver, batch)]).toEqual([true, [200, 'pending']]);
});

test('the right of whoever became an approver by deciding follows their role; the operator may link them later', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId } = merchant;
  const finance = await signIn(service, merchant, 'finance');
  const [one, owner] = [
    await signIn(service, merchant, 'approver'),
    await signIn(service, merchant, 'owner'),
  ];
  const present = async (name: string) =>
    (await listApprovers(service.app, merchantId)).some((approver) => approver.name === name);
  expect(await decide(one, await submitted(finance))).toEqual([200, 'pending']);
  const role = (to: string) =>
    users.changeRole(service.app, { merchantId, userId: one.userId, role: to }, owner.userId);
  await role('viewer');
  expect(await present(one.email)).toBe(false);
  await role('approver');
  expect(await decide(one, await submitted(finance))).toEqual([200, 'pending']);
  await addApprover(service.app, merchantId, 'Known to the operator');
  await linkApprover(service.app, merchantId, { name: 'Known to the operator', userId: one.userId });
  expect([await present(one.email), await present('Known to the operator')]).toEqual([false, true]);
  expect(await decide(one, await submitted(finance))).toEqual([200, 'pending']);
  await removeApprover(service.app, merchantId, 'Known to the operator');
  await role('viewer');
  await role('approver');
  expect(await decide(one, await submitted(finance))).toEqual([403, expect.stringContaining('removed')]);
  const admin = await signIn(service, merchant, 'admin');
  const invited = { merchantId, email: 'second@example.com', role: 'approver' };
  await expect(users.inviteUser(service.app, invited, admin.userId)).rejects.toThrow('Only an owner');
});

test('refunds above their limit are listed and decided alike', { timeout: LONG_MS }, async () => {
  const support = await signIn(service, merchant, 'support');
  const approver = await signIn(service, merchant, 'approver');
  const session = await merchant.sdk.checkout.sessions.create({ amount: 90_000_000n, currency: 'USDT' });
  await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const refundId = `re_${randomUUID().replaceAll('-', '').slice(0, 26)}`;
  const refund = { refund_id: refundId, payment_id: session.payment_id, address };
  const made = await support.call('/api/v1/refunds/create', { method: 'POST', body: refund });
  expect([made.status, made.body.status]).toEqual([200, 'pending']);
  const listed = await approver.call(own('/approvals'));
  const ends_at = Number(made.body.created) + 7 * 86_400;
  expect(listed.body).toMatchObject({ refunds: [{ refund_id: refundId, ends_at }] });
  const path = own(`/refunds/${refundId}/decision`);
  expect((await approver.call(path)).body).toMatchObject({ is_waiting: true });
  const answer = await approver.call(path, { method: 'POST', body: { decision: 'rejected' } });
  expect([answer.status, answer.body.status]).toEqual([200, 'canceled']);
  expect((await approver.call(path)).body).toMatchObject({ is_waiting: false });
});

test('one of support refunds parts up to a limit of the day, also at once; who pays out is not bound by it', {
  timeout: LONG_MS,
}, async () => {
  const support = await signIn(service, merchant, 'support');
  const finance = await signIn(service, merchant, 'finance');
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.supportDailyLimit, '40.00');
  const paid = async (amount: bigint) => {
    const session = await merchant.sdk.checkout.sessions.create({ amount, currency: 'USDT' });
    await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
    return session.payment_id;
  };
  const [payment, ...small] = [await paid(89_000_000n), await paid(6_000_000n), await paid(6_000_000n)];
  // A key whose secret they were shown is not them.
  const { merchantId, storeId } = merchant;
  const scopes = ['read', 'refunds'];
  const form = { key: randomUUID(), digest: randomBytes(32) };
  const input = {
    merchantId,
    storeId,
    name: 'Server',
    validityDays: 0,
    scopes,
    holder: { userId: support.userId, form },
  };
  const byKey = service.sdkFor(await storeKeys.createKey(service.app, input));
  const five = { refund_id: randomUUID(), payment_id: payment, address, currency: 'USDT' } as const;
  expect(await byKey.refunds.create({ ...five, amount: 5_000_000n })).toMatchObject({ status: 'pending' });
  const refund = async (by: Person, amount: number, payment_id = payment) => {
    const of = { payment_id, address, amount, currency: 'USDT' };
    const body = { refund_id: randomUUID(), ...of };
    const answer = await by.call('/api/v1/refunds/create', { method: 'POST', body });
    return { status: answer.status, ...Object(answer.body) };
  };
  const first = await refund(support, 30_000_000);
  expect(first).toMatchObject({ status: 'pending', amount: 30_000_000 });
  expect(await refund(support, 10_000_001)).toMatchObject({
    status: 429,
    error: { param: 'amount', message: expect.stringContaining('at most 10.00 more today') },
  });
  // Of two payments, as the lock of one would make them come one after the other.
  const both = await Promise.all(small.map((one) => refund(support, 6_000_000, one)));
  expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['429', 'pending']);
  expect(await refund(finance, 40_000_000)).toMatchObject({ status: 'pending' });
  expect(await refund(finance, 14_000_001)).toMatchObject({
    status: 400,
    error: { param: 'amount', message: 'At most 14.00 USDT (amount 14000000) can be refunded.' },
  });
  const cancel = `/api/v1/refunds/${first.refund_id}/cancel`;
  expect((await support.call(cancel, { method: 'POST', body: {} })).status).toBe(200);
  expect(await refund(support, 34_000_000)).toMatchObject({ status: 'pending' });
  const { rows } = await sql<{ details: object }>`
    select details from audit_entry where merchant_id = ${merchant.merchantId} and phase = 'attempted'
      and details::text like '%30000000%' and details::text like ${`%${first.refund_id}%`}`.execute(
    service.app.db,
  );
  expect(rows).not.toEqual([]);
});

const withPasskey = (person: Person) => addPasskey(service, person);
type Authenticator = Awaited<ReturnType<typeof withPasskey>>;

const answer = (by: Person, authenticator: Authenticator, path: string, change: PasskeyAnswer = {}) =>
  decideByPasskey(service.baseUrl, { by, authenticator, path: own(path) }, change);

test('a passkey approves and rejects without another proof, is kept whole, and is verified offline', {
  timeout: LONG_MS,
}, async () => {
  const [finance, approver, other] = [
    await signIn(service, merchant, 'finance'),
    await signIn(service, merchant, 'approver'),
    await signIn(service, merchant, 'owner'),
  ];
  const [batch, second] = [await submitted(finance), await submitted(finance)];
  const waiting: { payout_batches: { batch_id: string }[] } = Object(
    (await approver.call(own('/approvals'))).body,
  );
  const ids = waiting.payout_batches.map(({ batch_id }) => batch_id);
  // The one that has waited longer comes first.
  expect(ids.filter((id) => id === batch || id === second)).toEqual([batch, second]);
  const path = `/payout-batches/${batch}`;
  const shown = async (by: Person) => (await by.call(own(`${path}/decision`))).body;
  expect(await shown(approver)).toMatchObject({
    way: 'session',
    hint: expect.stringContaining('Add a passkey'),
  });
  const key = await withPasskey(approver);
  const content = await shown(approver);
  expect(content).toMatchObject({
    way: 'passkey',
    hint: null,
    network: 'erc20',
    currency: 'USDT',
    count: 1,
    total: '30000000',
    recipients: [{ amount: '30000000' }],
  });
  await forgetProof(service.app, approver);
  const refused: [what: string, change: Parameters<typeof answer>[3], status: number][] = [
    ['the page of somebody else', { said: { origin: 'https://evil.example' } }, 400],
    ['another relying party', { said: { rpId: 'evil.example' } }, 400],
    ['nobody verified', { said: { flags: 0x01 } }, 400],
    ['another challenge', { said: { challenge: 'AAAA' } }, 400],
    ['the answer of a rejection', { asked: 'rejected' }, 400],
    ['another time', { sent: { valid_until: 2_000_000_000 } }, 400],
  ];
  for (const [what, change, status] of refused)
    expect((await answer(approver, key, path, change))[0], what).toBe(status);
  // Somebody else's passkey, and one that nobody here has.
  expect((await answer(other, key, path))[0]).toBe(409);
  await withPasskey(other);
  expect((await answer(other, key, path))[0]).toBe(401);
  expect((await answer(finance, key, path))[0]).toBe(403);
  const kept = () =>
    service.app.db
      .selectFrom('signed_approval')
      .selectAll()
      .where('merchant_id', '=', merchant.merchantId)
      .execute();
  expect(await kept()).toEqual([]);
  // A counter that went back is no matter here.
  expect(await answer(approver, key, path, { said: { counter: 1 } })).toEqual([200, 'pending']);
  // Decided: a signature more is kept for the signer, and nothing is taken back.
  expect((await answer(approver, key, path, { decision: 'rejected' }))[0]).toBe(400);
  expect(await answer(approver, key, `/payout-batches/${second}`, { decision: 'rejected' })).toEqual([
    200,
    'rejected',
  ]);
  expect(await kept()).toMatchObject([
    { decision: expect.stringMatching(/^(approve|reject)$/), credential_id: key.kept.credential_id },
    { authenticator_data: expect.any(Buffer), client_data_json: expect.any(Buffer) },
  ]);
  const { verify } = approvalCommands(service.app, service.baseUrl);
  const { rpID: rpId, origin } = passkeys.relyingParty(service.baseUrl);
  const [passkey] = await passkeys.listPublicKeys(service.app, approver.userId);
  const approvers = [
    { name: approver.email, kind: 'passkey', key: passkey?.key ?? '', rpId, origin },
  ] as const;
  const signed = { name: approver.email, signer: approver.email, by: 'passkey', strength: 'signed' };
  const counted = { ...signed, counts_today: true, why: null };
  const report = await verify({ id: batch, approvers });
  expect(report).toMatchObject({
    count: 1,
    total: '30000000',
    approvals: [{ ...counted, decision: 'approved' }],
  });
  expect(report.digest).toBe(Object(content).digest);
  expect((await verify({ id: second, approvers })).approvals).toMatchObject([
    { ...counted, decision: 'rejected' },
  ]);
  // Whoever writes the database makes keys as well.
  expect((await verify({ id: batch })).approvals).toMatchObject([
    { ...signed, strength: 'weaker', counts_today: true, why: expect.stringContaining('--policy') },
  ]);
  // Passed from hand to hand, an answer says nothing more; the log keeps none.
  const { rows: logged } = await sql`
    select details from audit_entry where action like '%ecidePayoutBatchByPasskey'`.execute(service.app.db);
  expect(logged.length).toBeGreaterThan(0);
  expect(JSON.stringify(logged)).not.toContain('clientDataJSON');
  // As where a signer waits for what counts no more: it is approved, and not paid.
  const row = service.app.db
    .updateTable('payout_batch')
    .where('batch_id', '=', decodeId('payoutBatch', batch) ?? '');
  const status = async () => (await merchant.sdk.payouts.retrieve(batch)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe('completed');
  await row.set({ status: 'processing', required_signatures: 1 }).execute();
  const toSign = async () => Object((await other.call(own('/approvals'))).body).payout_batches_to_sign;
  expect(await toSign()).toEqual([]);
  // When its approver has lost the passkey it was signed all the same.
  await service.app.db.deleteFrom('console_passkey').where('user_id', '=', approver.userId).execute();
  expect((await verify({ id: batch, approvers })).approvals).toMatchObject([
    { ...signed, counts_today: false, why: expect.stringContaining('another key') },
  ]);
  expect(await toSign()).toMatchObject([{ batch_id: batch }]);
  await row.set({ required_signatures: null }).execute();
  expect(await toSign()).toEqual([]);
  const elsewhere = approvalCommands(service.app, 'https://console.example.com');
  expect((await elsewhere.verify({ id: batch })).approvals).toMatchObject([{ strength: 'wrong' }]);
  expect((await verify({ id: batch, approvers: [] })).approvals).toMatchObject([
    { strength: 'wrong', why: expect.stringContaining('the policy names no') },
  ]);
  await service.app.db
    .updateTable('payout_item')
    .set({ memo: 'x' })
    .where('batch_id', '=', decodeId('payoutBatch', batch) ?? '')
    .execute();
  expect((await verify({ id: batch })).approvals).toMatchObject([{ strength: 'wrong' }]);
});

test('who may approve no more becomes no approver, and what a session decides is called weaker', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId } = merchant;
  const [finance, one] = [
    await signIn(service, merchant, 'finance'),
    await signIn(service, merchant, 'approver'),
  ];
  const batch = await submitted(finance);
  expect(await decide(one, batch)).toEqual([200, 'pending']);
  const { verify } = approvalCommands(service.app, service.baseUrl);
  expect((await verify({ id: batch })).approvals).toMatchObject([{ by: 'session', strength: 'weaker' }]);
  const late = await signIn(service, merchant, 'approver');
  const becomes = () =>
    approverOf(
      service.app,
      { merchantId, clockOffset: 0 },
      {
        userId: late.userId,
        email: late.email,
        mayApprove: (tx) => users.mayApproveNow(tx, merchantId, late.userId),
      },
    );
  // As if the role had been taken away after the request was let in.
  await users.changeRole(service.app, { merchantId, userId: late.userId, role: 'viewer' });
  await expect(becomes()).rejects.toThrow('does not approve any more');
  await users.changeRole(service.app, { merchantId, userId: late.userId, role: 'owner' });
  expect(await becomes()).toEqual(expect.any(String));
});
