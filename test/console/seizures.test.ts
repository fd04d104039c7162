import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Person, signIn } from './people.ts';

const OPERATOR = '/console/api/operator';
const HUNDRED = 100 * TOKEN;
let service: TestService;
let ann: Person;
let bob: Person;
let cid: Person;
let auditor: Person;

beforeAll(async () => {
  service = await startService({ worker: true });
  const installation = { merchantId: NIL_ID, storeId: NIL_ID };
  for (const set of [
    (one: Person) => (ann = one),
    (one: Person) => (bob = one),
    (one: Person) => (cid = one),
  ])
    set(await signIn(service, installation, 'operator'));
  auditor = await signIn(service, installation, 'auditor');
});
afterAll(() => service.stop());

async function call(person: Person, path: string, body?: object) {
  const { status, text } = await person.call(path, body && { method: 'POST', body });
  return { status, body: JSON.parse(text) };
}

/** What the operators' page shows of a merchant. */
async function seizuresOf({ merchantId }: TestMerchant, by = auditor) {
  const { body } = await call(by, `${OPERATOR}/seizures?mode=sandbox`);
  const id = encodeId('merchant', merchantId);
  const all: { merchant: { merchant_id: string }; [name: string]: unknown }[] = body.data;
  return all.filter(({ merchant }) => merchant.merchant_id === id);
}

/** A payment of a listed wallet. */
async function frozen() {
  const merchant = await service.createMerchant({ funds: 0n });
  const calls = checkout(service, merchant);
  const { id, payment_id } = await calls.open();
  await calls.pay(id, { from: 'sanctioned' });
  const [one] = await seizuresOf(merchant);
  const path = `${OPERATOR}/merchants/${encodeId('merchant', merchant.merchantId)}/seizures/${payment_id}`;
  const tx_id = String(one?.tx_id);
  const decide = (by: Person, decision: string) => call(by, path, { tx_id, decision });
  const withdraw = (by: Person) => call(by, `${path}/withdraw`, { tx_id });
  return { merchant, one, payment: () => calls.payment(payment_id), decide, withdraw };
}

const usdtOf = async ({ sdk }: TestMerchant) =>
  (await sdk.balances.retrieve()).data.find(({ currency }) => currency === 'USDT');

test('two operators release: the first one is shown to the second, who carries it out, and nobody else can', async () => {
  const { merchant, one, payment, decide, withdraw } = await frozen();
  expect(one).toMatchObject({ network: 'erc20', currency: 'USDT', amount: HUNDRED, decisions: [] });
  const owner = await signIn(service, merchant, 'owner');
  for (const stranger of [auditor, owner]) expect((await decide(stranger, 'release')).status).toBe(403);
  expect((await call(owner, `${OPERATOR}/seizures`)).status).toBe(403);
  // Real money is not buried below what developers try.
  expect((await call(auditor, `${OPERATOR}/seizures`)).body.data).toEqual([]);
  expect((await decide(ann, 'burn')).status).toBe(400);
  expect((await withdraw(ann)).status).toBe(409);
  expect(await decide(ann, 'release')).toEqual({
    status: 200,
    body: { agreed: 1, required: 2, done: false },
  });
  // The same request again, as after an answer that was lost, counts once.
  expect((await decide(ann, 'release')).body).toMatchObject({ agreed: 1, done: false });
  expect((await decide(ann, 'keep')).status).toBe(400);
  expect(await seizuresOf(merchant)).toMatchObject([
    { decisions: [{ email: ann.email, decision: 'release' }] },
  ]);
  expect(await payment()).toMatchObject({ status: 'frozen' });
  expect((await decide(bob, 'release')).body).toEqual({ agreed: 2, required: 2, done: true });
  expect(await payment()).toMatchObject({ status: 'completed' });
  expect(await usdtOf(merchant)).toMatchObject({ available: HUNDRED, seized: 0 });
  expect(await seizuresOf(merchant)).toEqual([]);
  expect((await decide(cid, 'release')).status).toBe(400);
  expect((await withdraw(ann)).status).toBe(409);
  const entries = await listEntries(service.app.db, merchant.merchantId, {
    limit: 50,
    action: 'decideSeizure',
  });
  const actors = new Set(entries.filter(({ phase }) => phase === 'done').map(({ actor }) => actor));
  expect(actors).toEqual(new Set([ann, bob].map(({ userId }) => encodeId('user', userId))));
  await expectLedgerWhole(service);
});

test('who disagrees decides nothing; one takes it back and the other keeps it, at the same moment as a third', async () => {
  const { merchant, payment, decide, withdraw } = await frozen();
  expect((await decide(ann, 'release')).body).toMatchObject({ agreed: 1 });
  expect((await decide(bob, 'keep')).body).toMatchObject({ agreed: 1, done: false });
  expect(await usdtOf(merchant)).toMatchObject({ seized: HUNDRED });
  expect((await withdraw(ann)).status).toBe(200);
  expect(await seizuresOf(merchant)).toMatchObject([{ decisions: [{ email: bob.email }] }]);
  const together = await Promise.all([decide(ann, 'keep'), decide(cid, 'keep')]);
  expect(together.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  expect(await payment()).toMatchObject({ status: 'pending' });
  expect(await usdtOf(merchant)).toMatchObject({ available: 0, seized: 0 });
  await expectLedgerWhole(service);
});

test('pages follow each other, and the words of operators who are none any more do not count', async () => {
  const [first, second] = [await frozen(), await frozen()];
  const page = async (query: string) =>
    (await call(auditor, `${OPERATOR}/seizures?mode=sandbox&limit=1${query}`)).body;
  const one = await page('');
  expect(one).toMatchObject({ has_more: true, operators: 3 });
  const two = await page(`&starting_after=${encodeURIComponent(one.data[0].cursor)}`);
  expect(two.data).toHaveLength(1);
  expect(two.data[0].cursor).not.toBe(one.data[0].cursor);
  expect((await call(auditor, `${OPERATOR}/seizures?starting_after=x`)).status).toBe(400);
  expect((await second.decide(cid, 'keep')).body).toMatchObject({ agreed: 1 });
  const roleOf = (role: string) =>
    users.changeRole(service.app, { merchantId: NIL_ID, userId: cid.userId, role });
  await roleOf('auditor');
  expect(await seizuresOf(second.merchant)).toMatchObject([{ decisions: [] }]);
  // It does not count again with the role.
  await roleOf('operator');
  expect(await seizuresOf(second.merchant)).toMatchObject([{ decisions: [] }]);
  await roleOf('auditor');
  expect((await second.decide(ann, 'keep')).body).toMatchObject({ agreed: 1, done: false });
  expect((await second.decide(cid, 'keep')).status).toBe(403);
  expect((await second.decide(bob, 'keep')).body).toMatchObject({ agreed: 2, done: true });
  expect(await seizuresOf(first.merchant)).toHaveLength(1);
  await expectLedgerWhole(service);
});
