import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { changeStore, setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { forgetProof, type Person, signIn } from './people.ts';

const HOSTILE = '</title><script>alert(1)</script>';
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path d="M0 0h2v1z" fill="#0a0"/></svg>';
let service: TestService;
let merchant: TestMerchant;
let owner: Person;
let path: string;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  owner = await signIn(service, merchant, 'owner');
  const { merchantId, storeId } = merchant;
  path = `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}`;
});
afterAll(() => service.stop());

interface Brand {
  name: string;
  accent: string | null;
  support: string | null;
  terms: string | null;
  logo_id: string | null;
}

async function read(): Promise<Brand & Record<string, unknown>> {
  const { status, text } = await owner.call(path);
  expect(status).toBe(200);
  return JSON.parse(text);
}
const brandOf = ({ name, accent, support, terms, logo_id }: Brand): Brand => ({
  name,
  accent,
  support,
  terms,
  logo_id,
});

type Change = Partial<Omit<Brand, 'logo_id'>> & { logo?: string | null };
async function put(seen: Brand, change: Change, by = owner) {
  const { logo_id: _, ...shown } = seen;
  const body = { ...shown, ...change, seen };
  const { status, text } = await by.call(`${path}/brand`, { method: 'PUT', body });
  return { status, body: JSON.parse(text) };
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a store is read with its review, how payers may pay and its rules, and changed by whom the table says', async () => {
  const store = await read();
  expect(store).toMatchObject({ review_status: 'approved', is_open: true, accent: null, logo_id: null });
  expect(store.payment_methods).toContainEqual({ token: 'USDT', network: 'erc20' });
  expect(store.rules).toContainEqual(
    expect.objectContaining({ name: 'refunds.approval_above', value: expect.any(String) }),
  );
  expect(JSON.stringify(store.rules)).not.toMatch(/transfers\.|mail\.|rates\./);
  for (const role of ['developer', 'finance', 'viewer']) {
    const person = await signIn(service, merchant, role);
    expect([(await person.call(path)).status, (await put(brandOf(store), {}, person)).status]).toEqual([
      403, 403,
    ]);
  }
  const foreign = await signIn(service, await service.createMerchant(), 'owner');
  expect((await foreign.call(path)).status).toBe(403);
});

test('of two people who change how a store presents itself the second is told, and the same form twice is one change', async () => {
  const seen = brandOf(await read());
  const admin = await signIn(service, merchant, 'admin');
  const answers = await Promise.all([
    put(seen, { accent: '#0A58CA', logo: base64(LOGO) }),
    put(seen, { accent: '#c00' }, admin),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  const after = brandOf(await read());
  const isFirst = answers[0]?.status === 200;
  expect(after.accent).toBe(isFirst ? '#0a58ca' : '#cc0000');
  // As where its answer was lost.
  const again = isFirst ? { accent: '#0A58CA', logo: base64(LOGO) } : { accent: '#c00' };
  expect((await put(seen, again)).status).toBe(200);
  expect((await put(seen, { support: 'help@shop.example' })).status).toBe(409);
  expect(brandOf(await read())).toEqual(after);
  const saved = await put(after, { support: 'help@shop.example', logo: base64(LOGO) });
  const last = await read();
  // As it is from then on, so that a page takes its own change for nobody else's.
  expect(saved).toEqual({ status: 200, body: brandOf(last) });
  expect(last).toMatchObject({
    support: 'mailto:help@shop.example',
    logo_id: expect.stringMatching(/^\w{32}$/),
  });
  expect((await put(brandOf(last), { logo: null })).status).toBe(200);
  expect((await read()).logo_id).toBeNull();
});

test('what cannot be shown is refused by its field, a stale proof is asked for, and each change is in the audit log', async () => {
  const seen = brandOf(await read());
  const refusals: [Change, string][] = [
    [{ name: ' ' }, 'name'],
    [{ accent: 'red' }, 'accent'],
    [{ support: 'javascript:alert(1)' }, 'support'],
    [{ terms: 'http://shop.example' }, 'terms'],
    [{ logo: base64('<svg><script/></svg>') }, 'logo'],
    [{ logo: 'no base64!' }, 'logo'],
  ];
  for (const [change, param] of refusals) {
    const { status, body } = await put(seen, change);
    expect([status, body.error?.param], param).toEqual([400, param]);
  }
  expect(brandOf(await read())).toEqual(seen);
  const large = LOGO.replace('M0 0', `M0 0${'h1'.repeat(2_000)}`);
  expect((await put(seen, { name: HOSTILE, logo: base64(large) })).status).toBe(200);
  const [done, attempted] = await listEntries(service.app.db, merchant.merchantId, {
    limit: 2,
    action: 'changeBrand',
  });
  expect(attempted?.details).toMatchObject({
    before: { name: seen.name },
    input: { body: { name: HOSTILE, logo: { bytes: large.length } } },
  });
  expect(done).toMatchObject({ phase: 'done', actor: encodeId('user', owner.userId) });
  expect(done?.details).toMatchObject({ after: { name: HOSTILE } });
  // As large as the form allows, and what is larger is told the limit that holds here.
  const largest = LOGO.padEnd(100_000);
  expect((await put(brandOf(await read()), { logo: base64(largest) })).status).toBe(200);
  const over = await put(brandOf(await read()), { logo: base64(`${largest} `) });
  expect([over.status, over.body.error]).toEqual([400, expect.objectContaining({ param: 'logo' })]);
  expect((await put(brandOf(await read()), { logo: 'a'.repeat(200_000) })).body.error).toMatchObject({
    code: 'body_too_large',
    message: 'A body has at most 160000 bytes here.',
  });
  const admin = await signIn(service, merchant, 'admin');
  await forgetProof(service.app, admin);
  expect((await put(brandOf(await read()), { name: 'Shop' }, admin)).body.error.param).toBe('proof');
});

test('a preview shows the page with the change and its logo, without script, and changes nothing', async () => {
  const before = await read();
  const entries = async () => (await listEntries(service.app.db, merchant.merchantId, { limit: 500 })).length;
  const count = await entries();
  const preview = async (change: Change & { page?: string }) => {
    const { logo_id: _, ...shown } = brandOf(before);
    const body = { ...shown, ...change };
    const { status, text } = await owner.call(`${path}/brand/preview`, { method: 'POST', body });
    return { status, body: JSON.parse(text) };
  };
  const { html } = (await preview({ name: `Shop ${HOSTILE}`, accent: '#c00', logo: base64(LOGO) })).body;
  expect(html).toContain('Shop &lt;/title>&lt;script>alert(1)&lt;/script>');
  expect(html).not.toContain('<script');
  expect(html).toContain('src="data:image/svg+xml;base64,');
  expect(html).toContain('--accent:light-dark(#c');
  expect((await preview({ logo: null })).body.html).not.toContain('data:image/');
  expect((await preview({ support: 'nobody' })).body.error.param).toBe('support');
  expect((await preview({ page: 'paid' })).body.html).toContain('https://shop.example/');
  expect((await preview({ page: 'pay' })).status).toBe(400);
  expect(await read()).toEqual(before);
  expect(await entries()).toBe(count);
});

test('operator and auditor read the pages of every merchant, suspended ones and closed stores too, and change nothing there', async () => {
  const visited = await service.createMerchant();
  const closed = await service.addStore(visited);
  const { merchantId } = visited;
  const visits = async (role: string) => await signIn(service, visited, role, NIL_ID);
  const visitors = [await visits('operator'), await visits('auditor')];
  await visited.sdk.checkout.sessions.create({ amount: 1_250n, currency: 'USD' });
  const ownerThere = await signIn(service, visited, 'owner');
  const store = { 'x-service-store': encodeId('store', closed.storeId) };
  const paths = ['/api/v1/payments', '/api/v1/deliveries', '/api/v1/payout-batches'];
  const ofConsole = ['audit-log', 'stores'].map(
    (page) => `/console/api/merchants/${encodeId('merchant', merchantId)}/${page}`,
  );
  const statuses = async (person: Person, options = {}) =>
    await Promise.all(paths.map(async (path) => (await person.call(path, options)).status));
  const made = { method: 'POST', body: { amount: 5, currency: 'USD', open: false } };
  for (const status of ['active', 'suspended'] as const) {
    await setMerchantStatus(service.app, merchantId, status);
    for (const visitor of visitors) {
      expect(await statuses(visitor)).toEqual([200, 200, 200]);
      expect(JSON.parse((await visitor.call('/api/v1/payments')).text).data).toHaveLength(1);
      for (const path of ofConsole) expect((await visitor.call(path)).status, path).toBe(200);
      const refused = await visitor.call('/api/v1/payment_links', made);
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringMatching(/Your role does not permit|suspended/),
      ]);
    }
  }
  // Its own people are locked out as before.
  expect(await statuses(ownerThere)).toEqual([403, 403, 403]);
  await setMerchantStatus(service.app, merchantId, 'active');
  await changeStore(service.app, { merchantId, storeId: closed.storeId }, { enabled: false });
  expect(await statuses(ownerThere, { headers: store })).toEqual([403, 403, 403]);
  const foreign = { 'x-service-store': encodeId('store', merchant.storeId) };
  for (const visitor of visitors) {
    expect(await statuses(visitor, { headers: store })).toEqual([200, 200, 200]);
    expect(await statuses(visitor, { headers: foreign })).toEqual([403, 403, 403]);
    expect((await visitor.call('/api/v1/payment_links', { ...made, headers: store })).status).toBe(403);
  }
});
