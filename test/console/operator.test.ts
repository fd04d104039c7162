import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { riskCommands } from '../../packages/server/src/operator/settings.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { enqueue } from '../../packages/server/src/platform/jobs/index.ts';
import { createMerchant, setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { stopNetwork } from '../../packages/server/src/transfers/blocks/index.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { forgetProof, type Person, signIn } from './people.ts';

const OPERATOR = '/console/api/operator';
let service: TestService;
let merchant: TestMerchant;
let merchantPath = '';
let operator: Person;
let auditor: Person;
let owner: Person;
beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  merchantPath = `merchants/${encodeId('merchant', merchant.merchantId)}`;
  const installation = { merchantId: NIL_ID, storeId: NIL_ID };
  operator = await signIn(service, installation, 'operator');
  auditor = await signIn(service, installation, 'auditor');
  owner = await signIn(service, merchant, 'owner');
});
afterAll(() => service.stop());
async function get(person: Person, path: string) {
  const { status, text } = await person.call(path);
  return { status, body: JSON.parse(text) };
}
async function send(person: Person, method: string, path: string, body: object) {
  const { status, text } = await person.call(path, { method, body });
  return { status, body: JSON.parse(text) };
}
const put = (person: Person, path: string, body: object) => send(person, 'PUT', path, body);
const post = (person: Person, path: string, body: object) => send(person, 'POST', path, body);
const ownStores = async () => (await get(owner, `/console/api/${merchantPath}/stores`)).body.data;

test('a merchant asks for a store, the operator reviews and enables it, and two who decide are told', async () => {
  const asked = { name: 'Second shop', channel_type: 'hosted' };
  expect(
    (await post(owner, `/console/api/${merchantPath}/stores`, { ...asked, name: ' ' })).body.error.param,
  ).toBe('name');
  const made = await post(owner, `/console/api/${merchantPath}/stores`, asked);
  expect(made.status).toBe(200);
  const { store_id } = made.body;
  expect((await post(owner, `/console/api/${merchantPath}/stores`, asked)).status).toBe(409);
  expect(await ownStores()).toContainEqual(
    expect.objectContaining({
      ...asked,
      store_id,
      review_status: 'pending',
      is_open: false,
      is_enabled: false,
    }),
  );
  const { body } = await get(operator, `${OPERATOR}/stores`);
  expect(body.data).toContainEqual(
    expect.objectContaining({
      store_id,
      merchant: expect.objectContaining({ mode: 'sandbox', status: 'active' }),
    }),
  );
  const one = `${OPERATOR}/${merchantPath}/stores/${store_id}`;
  const seen = { review_status: 'pending', is_open: false };
  for (const who of [owner, auditor])
    expect((await put(who, one, { review_status: 'approved', seen })).status).toBe(403);
  expect((await put(operator, one, { review_status: 'approved', is_open: true, seen })).status).toBe(200);
  expect(await ownStores()).toContainEqual(expect.objectContaining({ store_id, is_enabled: true }));
  // Somebody else decides by what they saw before.
  const late = await put(operator, one, { review_status: 'rejected', seen });
  expect([late.status, late.body.error.message]).toEqual([
    409,
    'Somebody changed this store meanwhile: it is approved and enabled now.',
  ]);
  expect(
    (await put(operator, one, { is_open: false, seen: { review_status: 'approved', is_open: true } })).status,
  ).toBe(200);
  expect(await ownStores()).toContainEqual(expect.objectContaining({ store_id, is_enabled: false }));
  const entries = await listEntries(service.app.db, merchant.merchantId, { limit: 100 });
  const changes = entries.filter(({ action }) => action === 'changeStore').map(({ phase }) => phase);
  expect(changes.length).toBeGreaterThanOrEqual(6);
  await forgetProof(service.app, operator);
  expect(
    (await put(operator, one, { is_open: true, seen: { review_status: 'approved', is_open: false } })).body
      .error.param,
  ).toBe('proof');
});

test('a merchant is suspended and resumed by the operator alone, and a store of another merchant is not reached', async () => {
  const fresh = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  const other = await createMerchant(service.app, { name: 'Other', mode: 'sandbox' });
  const otherPath = `${OPERATOR}/merchants/${encodeId('merchant', other.merchantId)}`;
  const statusOf = async () => {
    const { body } = await get(auditor, `${OPERATOR}/merchants`);
    const all: { name: string; status: string }[] = body.data;
    return all.find(({ name }) => name === 'Other')?.status;
  };
  for (const who of [owner, auditor])
    expect((await put(who, otherPath, { status: 'suspended' })).status).toBe(403);
  expect((await put(fresh, otherPath, { status: 'suspended' })).status).toBe(200);
  expect(await statusOf()).toBe('suspended');
  expect((await put(fresh, otherPath, { status: 'active' })).status).toBe(200);
  expect(await statusOf()).toBe('active');
  expect((await put(fresh, otherPath, { status: 'gone' })).status).toBe(400);
  const crossed = `${otherPath}/stores/${encodeId('store', merchant.storeId)}`;
  const seen = { review_status: 'approved', is_open: true };
  expect((await put(fresh, crossed, { is_open: false, seen })).status).toBe(404);
  expect((await put(fresh, `${OPERATOR}/merchants/mer_nobody`, { status: 'suspended' })).status).toBe(403);
  expect((await get(owner, `${OPERATOR}/merchants`)).status).toBe(403);
});

test('what fails is listed with its cause and runs again when the operator says so', async () => {
  const fresh = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  const farMs = service.app.clock.nowMs() + 86_400_000;
  await transact(service.app.db, (tx) =>
    enqueue(tx, [
      { merchantId: merchant.merchantId, kind: 'no-such-kind', uniqueKey: 'a', payload: {}, dueAtMs: farMs },
    ]),
  );
  const failing = async () => (await get(auditor, `${OPERATOR}/jobs`)).body.data;
  expect(await failing()).toEqual([]);
  await sql`update job set attempts = 4, last_error = 'Error: the node is away' where kind = 'no-such-kind'`.execute(
    service.app.db,
  );
  const [job] = await failing();
  expect(job).toMatchObject({ kind: 'no-such-kind', attempts: 4, last_error: 'Error: the node is away' });
  const { job_id, merchant_id } = job;
  const path = `${OPERATOR}/jobs/${job_id}/run`;
  expect((await post(auditor, path, { merchant_id })).status).toBe(403);
  expect((await post(fresh, path, { merchant_id: null })).status).toBe(409);
  expect((await post(fresh, `${OPERATOR}/jobs/1/run`, { merchant_id })).status).toBe(409);
  expect((await post(fresh, path, { merchant_id })).status).toBe(200);
  const [again] = await failing();
  expect(Date.parse(again.due_at)).toBeLessThanOrEqual(service.app.clock.nowMs());
});

test('an address is put on the risk list by an operator with a fresh proof, and taken off; others only look', async () => {
  const fresh = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  const list = `${OPERATOR}/risk-list`;
  const { fail: address } = testAddresses('erc20');
  const entry = { network: 'erc20', address: address.toLowerCase(), reason: 'Court order' };
  const listed = async () => (await get(auditor, list)).body.data;
  expect(await listed()).toEqual([]);
  for (const who of [auditor, owner]) expect((await post(who, list, entry)).status).toBe(403);
  expect((await get(owner, list)).status).toBe(403);
  expect((await post(fresh, list, { ...entry, address: '0x1' })).body.error.param).toBe('address');
  expect((await post(fresh, list, { ...entry, network: 'bitcoin' })).body.error.param).toBe('network');
  for (const reason of ['Court order', 'Theft']) {
    expect((await post(fresh, list, { ...entry, reason })).status).toBe(200);
    // As the address is checked, however it was typed.
    expect(await listed()).toEqual([{ ...entry, address, reason }]);
  }
  expect((await post(fresh, list, { ...entry, reason: 'a\u202eb' })).body.error.param).toBe('reason');
  const { network } = entry;
  expect((await post(auditor, `${list}/remove`, { network, address })).status).toBe(403);
  await forgetProof(service.app, fresh);
  expect((await post(fresh, `${list}/remove`, { network, address })).body.error.param).toBe('proof');
  expect((await post(fresh, list, entry)).body.error.param).toBe('proof');
  const other = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  expect((await post(other, `${list}/remove`, { network, address })).status).toBe(200);
  expect((await post(other, `${list}/remove`, { network, address })).status).toBe(409);
  expect(await listed()).toEqual([]);
  const entries = await listEntries(service.app.db, NIL_ID, { limit: 50 });
  const ends = entries.filter(({ action, phase }) => action.endsWith('RiskAddress') && phase === 'done');
  expect(ends.map(({ action }) => action)).toEqual(['removeRiskAddress', 'addRiskAddress', 'addRiskAddress']);
});

type Cause = Parameters<typeof stopNetwork>[3];
/** Something is found on a network of real money, as of that second. */
const stop = (nowSeconds: number, cause: Partial<Cause> = {}, of = NIL_ID) =>
  transact(service.app.db, (tx) =>
    stopNetwork(tx, { merchantId: of, mode: of === NIL_ID ? 'live' : 'sandbox' }, 'erc20', {
      what: 'sending',
      reason: 'block 7 was replaced',
      height: 7n,
      nowSeconds,
      nowMs: nowSeconds * 1000,
      ...cause,
    }),
  );
const NETWORKS_PATH = `${OPERATOR}/networks`;
const stopped = async () => (await get(auditor, NETWORKS_PATH)).body;
const isStopped = async () => (await stopped()).data.length > 0;
/** Two operators with fresh proofs, and a network of real money that stopped at that second. */
async function stoppedBeforeTwo(second: number) {
  const installation = { merchantId: NIL_ID, storeId: NIL_ID };
  const ada = await signIn(service, installation, 'operator');
  const grace = await signIn(service, installation, 'operator');
  await stop(second);
  const { seen } = (await stopped()).data[0];
  const ask = (who: Person, shown = seen) =>
    post(who, `${NETWORKS_PATH}/erc20/resume-requests`, { reason: 'The books agree.', seen: shown });
  const confirm = (who: Person, request_id: string, shown = seen) =>
    post(who, `${NETWORKS_PATH}/erc20/resume`, { request_id, seen: shown });
  return { ada, grace, seen, ask, confirm };
}
const end = () => asOwner(service, 'delete from network_stop');
test('a network of real money is resumed by two operators, each with a fresh proof, never by one', async () => {
  const { ada, grace, ask, confirm } = await stoppedBeforeTwo(1_000);
  expect(await stopped()).toMatchObject({
    data: [
      {
        network: 'erc20',
        merchant: null,
        request: null,
        stops: [{ what: 'sending', reason: 'block 7 was replaced', height: 7, causes: 1, last_at: null }],
      },
    ],
  });
  for (const who of [auditor, owner]) expect((await ask(who)).status).toBe(403);
  expect((await ask(ada, 'another')).status).toBe(409);
  const [first, twice] = await Promise.all([ask(ada), ask(ada)]);
  expect([first.status, twice.status, twice.body]).toEqual([200, 200, first.body]);
  const { request_id: id } = first.body;
  expect((await ask(grace)).body.error.message).toContain('confirm or withdraw');
  expect((await stopped()).data[0].request).toMatchObject({
    status: 'open',
    email: ada.email,
    reason: 'The books agree.',
  });
  expect((await confirm(ada, id)).body.error.message).toContain('Another operator');
  await forgetProof(service.app, grace);
  expect((await confirm(grace, id)).body.error.param).toBe('proof');
  expect((await confirm(auditor, id)).status).toBe(403);
  expect(await isStopped()).toBe(true);
  const eve = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  const clicks = await Promise.all([confirm(eve, id), confirm(eve, id)]);
  expect(clicks.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect(await isStopped()).toBe(false);
  const entries = await listEntries(service.app.db, NIL_ID, { limit: 50, action: 'confirmResume' });
  expect(entries).toContainEqual(
    expect.objectContaining({
      phase: 'attempted',
      actor: encodeId('user', eve.userId),
      details: expect.objectContaining({
        before: expect.objectContaining({ request: expect.objectContaining({ email: ada.email }) }),
      }),
    }),
  );
});

test('nothing is resumed that was not looked at: another cause, a day, or a lost role end a request', async () => {
  const { ada, grace, seen, ask, confirm } = await stoppedBeforeTwo(2_000);
  const { request_id: id } = (await ask(ada)).body;
  await stop(2_000, { reason: 'a transaction is gone', height: 3n });
  const again = (await stopped()).data[0];
  expect(again).toMatchObject({
    stops: [{ reason: 'block 7 was replaced; a transaction is gone', height: 3, causes: 2 }],
    request: { status: 'changed' },
  });
  for (const shown of [seen, again.seen]) expect((await confirm(grace, id, shown)).status).toBe(409);
  const { request_id: anew } = (await ask(grace, again.seen)).body;
  expect((await confirm(ada, id, again.seen)).status).toBe(409);
  await asOwner(service, 'update network_resume_request set created_at_ms = created_at_ms - 86400000');
  expect((await stopped()).data[0].request.status).toBe('expired');
  expect((await confirm(ada, anew, again.seen)).status).toBe(409);
  const { request_id: third } = (await ask(grace, again.seen)).body;
  await users.changeRole(service.app, { merchantId: NIL_ID, userId: grace.userId, role: null });
  expect((await stopped()).data[0].request.status).toBe('void');
  expect((await confirm(ada, third, again.seen)).status).toBe(409);
  expect(await isStopped()).toBe(true);
  await end();
  expect((await confirm(ada, third, again.seen)).body.error.message).toContain('not stopped any more');
});

test('while two confirm or the network stops again at the same moment, it is resumed once and as it was seen', async () => {
  for (let round = 0; round < 5; round++) {
    const { ada, grace, ask, confirm } = await stoppedBeforeTwo(3_000 + round);
    const { request_id: id } = (await ask(ada)).body;
    const [confirmed] = await Promise.all([
      confirm(grace, id),
      stop(4_000 + round, { reason: 'block 9 was replaced' }),
    ]);
    // Before it, and it stops anew; or behind it, and nothing is done.
    const [chain] = (await stopped()).data;
    expect(chain.stops[0].causes, String(confirmed.status)).toBe(confirmed.status === 200 ? 1 : 2);
    await end();
  }
});

test('a request is withdrawn or refused, and a sandbox needs one person alone', async () => {
  const { ada, grace, seen, ask, confirm } = await stoppedBeforeTwo(5_000);
  const withdraw = (who: Person, request_id: string) =>
    post(who, `${NETWORKS_PATH}/erc20/withdraw`, { request_id });
  for (const who of [ada, grace]) {
    const { request_id: id } = (await ask(ada)).body;
    expect((await withdraw(who, id)).status).toBe(200);
    expect((await withdraw(who, id)).status).toBe(409);
    expect((await confirm(grace, id)).status).toBe(409);
  }
  await stop(5_001, {}, merchant.merchantId);
  const path = `${OPERATOR}/${merchantPath}/networks/erc20/resume`;
  expect((await post(ada, path, { seen })).status).toBe(409);
  const own = (await stopped()).data.find((one: { merchant: unknown }) => one.merchant !== null);
  expect((await post(auditor, path, { seen: own.seen })).status).toBe(403);
  expect((await post(ada, path, { seen: own.seen })).status).toBe(200);
  expect((await stopped()).data).toMatchObject([{ merchant: null }]);
  expect((await post(ada, `${NETWORKS_PATH}/btc/withdraw`, { request_id: merchant.merchantId })).status).toBe(
    404,
  );
  await end();
});

test('more than a page of the risk list is paged through, and one address is found in it', async () => {
  await sql`insert into risk_address (network, address, reason, created_at_ms)
    select 'erc20', '0x' || lpad(n::text, 40, '0'), 'Sanctions', 0 from generate_series(1, 230) as n`.execute(
    service.app.db,
  );
  const seen: string[] = [];
  let query = '';
  for (let more = true; more; ) {
    const { body } = await get(auditor, `${OPERATOR}/risk-list${query}`);
    seen.push(...body.data.map(({ address }: { address: string }) => address));
    more = body.has_more;
    query = `?starting_after=${encodeURIComponent(`erc20 ${seen.at(-1)}`)}`;
  }
  expect([seen.length, new Set(seen).size]).toEqual([230, 230]);
  const found = await get(auditor, `${OPERATOR}/risk-list?address=${seen[222]}`);
  expect(found.body).toMatchObject({ data: [{ address: seen[222] }], has_more: false });
  expect((await riskCommands(service.app).list()).length).toBe(230);
  await sql`delete from risk_address`.execute(service.app.db);
});

test('stores of all merchants are paged and filtered; who is suspended asks for none', async () => {
  const other = await service.createMerchant({ funds: 0n });
  const theirs = await signIn(service, other, 'owner');
  const path = `/console/api/merchants/${encodeId('merchant', other.merchantId)}/stores`;
  for (let n = 1; n <= 3; n += 1)
    expect((await post(theirs, path, { name: `Shop ${n}`, channel_type: 'api' })).status).toBe(200);
  await setMerchantStatus(service.app, other.merchantId, 'suspended');
  const refused = await post(theirs, path, { name: 'Shop 4', channel_type: 'api' });
  expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining('suspended')]);
  const pages = async (filter: string) => {
    const seen: { store_id: string; review_status: string }[] = [];
    for (let after = ''; ; after = `&starting_after=${seen.at(-1)?.store_id}`) {
      const { body } = await get(auditor, `${OPERATOR}/stores?limit=1${filter}${after}`);
      seen.push(...body.data);
      if (!body.has_more) return seen;
    }
  };
  const all = await pages('');
  expect(all.map(({ store_id }) => store_id)).toEqual(
    (await get(auditor, `${OPERATOR}/stores`)).body.data.map((one: { store_id: string }) => one.store_id),
  );
  expect((await pages('&status=pending')).length).toBe(3);
  expect((await pages('&status=rejected')).length).toBe(0);
  const settled = [...(await pages('&status=enabled')), ...(await pages('&status=disabled'))];
  expect(settled.length + 3).toBe(all.length);
});

test('the state of the installation has every network, and no merchant sees it', async () => {
  const { body, status } = await get(auditor, `${OPERATOR}/installation`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    history_changed: false,
    networks: [{ network: 'erc20' }, { network: 'trc20' }, { network: 'spl' }],
    approvals_waiting: { payouts: 0, refunds: 0 },
  });
  expect((await get(owner, `${OPERATOR}/installation`)).status).toBe(403);
});
