import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { auditOperations } from '../../packages/server/src/operator/audited.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { storeTank } from '../../packages/server/src/transfers/wallets/index.ts';
import { startService, type TestService } from '../service.ts';
import { type Person, signIn } from './people.ts';

const OPERATOR = '/console/api/operator';
let service: TestService;
let auditor: Person;
let owner: Person;

beforeAll(async () => {
  service = await startService();
  auditor = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'auditor');
  owner = await signIn(service, await service.createMerchant(), 'owner');
});
afterAll(() => service.stop());

async function get(person: Person, path: string) {
  const { status, text } = await person.call(path);
  return { status, body: JSON.parse(text) };
}
async function post(person: Person, path: string, body: object) {
  const { status, text } = await person.call(path, { method: 'POST', body });
  return { status, body: JSON.parse(text) };
}

test('a merchant is made once with the link of its first owner, however often its form is sent', async () => {
  const fresh = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'operator');
  const path = `${OPERATOR}/merchants`;
  const form = { name: 'New shop', mode: 'sandbox', email: 'first@example.com' };
  const make = async (who: Person, body: object, key: string) => {
    const { status, text } = await who.call(path, {
      method: 'POST',
      body,
      headers: { 'idempotency-key': key },
    });
    return { status, body: JSON.parse(text) };
  };
  for (const who of [owner, auditor]) expect((await make(who, form, 'a')).status).toBe(403);
  expect((await post(fresh, path, form)).status).toBe(400);
  for (const email of ['nobody', fresh.email])
    expect((await make(fresh, { ...form, email }, 'b')).body.error.param).toBe('email');
  expect((await make(fresh, { ...form, name: ' ' }, 'c')).body.error.param).toBe('name');
  const answers = await Promise.all([make(fresh, form, 'd'), make(fresh, form, 'd')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const [made, again] = answers.map(({ body }) => body);
  expect(made.merchant_id).toBe(again.merchant_id);
  const links = [made.link_token, again.link_token].filter((link) => link !== null);
  expect(links).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  expect((await make(fresh, { ...form, name: 'Another' }, 'd')).status).toBe(409);
  const named = async () => {
    const { body } = await get(auditor, path);
    return body.data.filter(({ name }: { name: string }) => name === 'New shop');
  };
  expect(await named()).toMatchObject([{ mode: 'sandbox', status: 'active', has_owner: false }]);
  const redeemed = await fetch(`${service.baseUrl}/console/api/links/redeem`, {
    method: 'POST',
    headers: { origin: service.baseUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ token: links[0], password: 'gravel-otter-lantern' }),
  });
  expect(redeemed.status).toBe(200);
  expect(await named()).toMatchObject([{ has_owner: true }]);
  const first = (await get(auditor, `${path}?limit=1`)).body;
  expect([first.data.length, first.has_more]).toEqual([1, true]);
  const rest = (await get(auditor, `${path}?starting_after=${first.data[0].merchant_id}`)).body;
  const everyone = (await get(auditor, path)).body;
  expect(everyone).toEqual({ data: [...first.data, ...rest.data], has_more: false });
  const entries = await listEntries(service.app.db, NIL_ID, { limit: 50, action: 'createMerchant' });
  expect(entries).toContainEqual(
    expect.objectContaining({
      phase: 'done',
      details: expect.objectContaining({ result: { merchant_id: made.merchant_id } }),
    }),
  );
  expect(JSON.stringify(entries)).not.toContain(links[0]);
  const log = `${OPERATOR}/audit-log?limit=50&action=createMerchant`;
  expect((await get(auditor, log)).body.data).toEqual(entries);
  expect((await get(owner, log)).status).toBe(403);
});

test('the treasury says what workers have read, by how much it is too little, and when nobody has read it', async () => {
  const treasury = async () => (await get(auditor, `${OPERATOR}/treasury`)).body.data;
  const nowSeconds = service.app.clock.nowSeconds();
  const address = testAddresses('erc20').fail;
  const read = (native: bigint, readAt: number) =>
    storeTank(service.app.db, { network: 'erc20', sender: address, native, readAt });
  expect(await treasury()).toMatchObject([
    { network: 'erc20', coin: 'ether', is_set_up: false, state: 'none', tank: null, under_way: [] },
    { network: 'trc20', floor: '200.000000', floor_setting: 'custody.trx_minimum' },
    { network: 'spl' },
  ]);
  await read(49_999_999_999_999_999n, nowSeconds);
  expect((await treasury())[0]).toMatchObject({
    state: 'low',
    tank: { address, amount: '0.049999999' },
    floor: '0.050000000',
    floor_setting: 'custody.tank_minimum',
  });
  await read(50_000_000_000_000_000n, nowSeconds);
  expect((await treasury())[0].state).toBe('ok');
  await read(50_000_000_000_000_000n, nowSeconds - 1_000);
  expect((await treasury())[0].state).toBe('not_read');
  const stake = async () => (await treasury())[1].stake;
  expect(await stake()).toBeNull();
  await settingCommands(service.app).set('custody.trx_stake_minimum', '4000.00');
  const floor = { floor: '4000.000000', floor_setting: 'custody.trx_stake_minimum' };
  expect(await stake()).toEqual({ staked: '0.000000', lent: '0.000000', ...floor });
  const tank = {
    network: 'trc20' as const,
    sender: testAddresses('trc20').fail,
    native: 1n,
    readAt: nowSeconds,
  };
  await storeTank(service.app.db, { ...tank, stake: { free: 3_000_000_000n, lent: 500_000_000n } });
  expect(await stake()).toEqual({ staked: '3500.000000', lent: '500.000000', ...floor });
  const page = await (await fetch(`${service.baseUrl}/metrics`)).text();
  expect(page).toContain('florin_gas_tank_stake_coins{network="trc20",state="free"} 3000');
  expect(page).toContain('florin_gas_tank_stake_coins{network="trc20",state="lent"} 500');
  await storeTank(service.app.db, tank);
  expect((await treasury())[1].stake).toMatchObject({ staked: '0.000000' });
  expect((await get(owner, `${OPERATOR}/treasury`)).status).toBe(403);
  const wallets = `${OPERATOR}/treasury/erc20/wallets`;
  expect((await get(auditor, wallets)).body).toEqual({ data: [], next: null });
  expect((await get(auditor, `${wallets}?after=mer_1`)).status).toBe(400);
  expect((await get(auditor, `${OPERATOR}/treasury/btc/wallets`)).status).toBe(404);
  expect((await get(owner, wallets)).status).toBe(403);
});

test('every setting is listed with its value, where that comes from, and who changed it; merchants do not see them', async () => {
  const { settings } = auditOperations(service.app, { settings: settingCommands(service.app) });
  const listed = async () => (await get(auditor, `${OPERATOR}/settings`)).body.data;
  const named = async (name: string) => (await listed()).find((one: { name: string }) => one.name === name);
  const all = await settings.list();
  expect((await listed()).map(({ name }: { name: string }) => name)).toEqual(all.map(({ name }) => name));
  expect(await named('payouts.approvals')).toMatchObject({
    source: 'default',
    merchants: 0,
    changed_by: null,
    changed_at: null,
  });
  await settings.set('payouts.approvals', '3');
  const { merchantId } = await service.createMerchant();
  await settings.set('payouts.approvals', '2', encodeId('merchant', merchantId));
  const [change] = await listEntries(service.app.db, NIL_ID, { limit: 1, action: 'settings.set' });
  expect(await named('payouts.approvals')).toMatchObject({
    sandbox: '3',
    live: '3',
    source: 'database',
    merchants: 1,
    changed_by: change?.actor,
    changed_at: change?.at,
  });
  await settings.unset('payouts.approvals');
  const [back] = await listEntries(service.app.db, NIL_ID, { limit: 1, action: 'settings.unset' });
  expect(await named('payouts.approvals')).toMatchObject({ source: 'default', changed_at: back?.at });
  expect((await get(owner, `${OPERATOR}/settings`)).status).toBe(403);
});
