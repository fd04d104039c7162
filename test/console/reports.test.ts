import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Posting, post } from '../../packages/server/src/ledger/index.ts';
import { NIL_ID, newId } from '../../packages/server/src/platform/db/ids/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addSubscription } from '../subscriptions/rows.ts';
import { type Person, signIn } from './people.ts';

let service: TestService;
let merchant: TestMerchant;
let finance: Person;
let auditor: Person;

const at = (text: string) => Date.parse(text) / 1000;
const payment = newId();
const charge = newId();
const coins = { currency: 'USDT', network: 'erc20' } as const;
const paid = (id: string, amount: bigint): Posting => ({
  ...coins,
  debit: 'custody:erc20',
  credit: 'available',
  amount,
  cause: { type: 'payment', id },
});
const batch = { type: 'payout_batch', id: newId() } as const;
const item = { type: 'payout_item', id: newId() } as const;
const refund = { type: 'refund', id: newId() } as const;

/** Journals on both sides of the ends of October 2026. */
const JOURNALS: readonly [time: string, postings: Posting[]][] = [
  ['2026-09-30T23:59:59Z', [paid(payment, 100_000_000n)]],
  ['2026-10-01T00:00:00Z', [paid(payment, 50_000_001n)]],
  ['2026-10-10T12:00:00Z', [paid(charge, 9_000_000n)]],
  [
    '2026-10-12T12:00:00Z',
    [
      { ...coins, debit: 'available', credit: 'payout_hold', amount: 20_200_000n, cause: batch },
      { ...coins, debit: 'custody_hold:erc20', credit: 'custody:erc20', amount: 20_000_000n, cause: batch },
    ],
  ],
  [
    '2026-10-12T12:05:00Z',
    [
      { ...coins, debit: 'payout_hold', credit: 'custody_hold:erc20', amount: 20_000_000n, cause: item },
      { ...coins, debit: 'payout_hold', credit: 'fees', amount: 200_000n, cause: item },
    ],
  ],
  [
    '2026-10-31T23:59:59Z',
    [{ ...coins, debit: 'available', credit: 'refund_hold', amount: 1_000_000n, cause: refund }],
  ],
  ['2026-11-01T00:00:00Z', [paid(payment, 7_000_000n)]],
];

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  const { db } = service.app;
  const { merchantId, storeId } = merchant;
  for (const [time, postings] of JOURNALS)
    await transact(db, (tx) => post(tx, merchantId, postings, at(time)));
  await sql`insert into payment (merchant_id, store_id, payment_id, invoice_id, amount, currency, status, created_at)
    values (${merchantId}, ${storeId}, ${charge}, ${newId()}, 900, 'USD', 'processing', ${at('2026-10-10T12:00:00Z')})`.execute(
    db,
  );
  finance = await signIn(service, merchant, 'finance');
  auditor = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'auditor');
});
afterAll(() => service.stop());

const pathOf = ({ merchantId }: Pick<TestMerchant, 'merchantId'>, query = '') =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/statement${query}`;
const OCTOBER = '?from=2026-10-01&to=2026-10-31';

interface Account {
  account: string;
  currency: string;
  opening: string;
  movements: { kind: string; increase: string; decrease: string; entries: number }[];
  closing: string;
}

async function read(person: Person, query: string, of = merchant) {
  const { status, text } = await person.call(pathOf(of, query));
  return { status, body: JSON.parse(text), accounts: JSON.parse(text).accounts as Account[] };
}

/** The file of a statement, as a spreadsheet reads it: no cell of these has a comma. */
async function readFile(person: Person, query: string, of = merchant) {
  const answer = await fetch(`${service.baseUrl}${pathOf(of, query)}`, {
    headers: { cookie: person.cookie, accept: 'text/csv' },
  });
  const lines = (await answer.text()).split('\r\n');
  return { status: answer.status, headers: answer.headers, lines };
}

const units = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
};

/** What an account held before a time, from the entries alone. */
async function heldBefore({ account, currency }: Account, time: number): Promise<bigint> {
  const { rows } = await sql<{ sum: string }>`
    select coalesce(sum(case when debit = ${account} then amount else -amount end), 0)::text as sum
    from ledger_entry where merchant_id = ${merchant.merchantId} and currency = ${currency}
      and created_at < ${time} and (debit = ${account} or credit = ${account})`.execute(service.app.db);
  const grows = account.startsWith('custody');
  return BigInt(rows[0]?.sum ?? 0) * (grows ? 1n : -1n);
}

test('a month opens and closes with what the entries say, and its movements are listed by kind', async () => {
  const { body, accounts } = await read(finance, OCTOBER);
  expect(body).toMatchObject({ from: '2026-10-01', to: '2026-10-31', is_final: true, mode: 'sandbox' });
  const shown = accounts.map(({ account, opening, movements, closing }) => [
    account,
    opening,
    ...movements.map(({ kind, increase, decrease }) => `${kind} +${increase} -${decrease}`),
    closing,
  ]);
  expect(shown.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
    [
      'available',
      '100.00',
      'payment +50.000001 -0.00',
      'subscription +9.00 -0.00',
      'refund +0.00 -1.00',
      'payout +0.00 -20.20',
      '137.800001',
    ],
    [
      'custody:erc20',
      '100.00',
      'payment +50.000001 -0.00',
      'subscription +9.00 -0.00',
      'payout +0.00 -20.00',
      '139.000001',
    ],
    ['custody_hold:erc20', '0.00', 'payout +20.00 -20.00', '0.00'],
    ['fees', '0.00', 'fee +0.20 -0.00', '0.20'],
    ['payout_hold', '0.00', 'payout +20.20 -20.00', 'fee +0.00 -0.20', '0.00'],
    ['refund_hold', '0.00', 'refund +1.00 -0.00', '1.00'],
  ]);
});

test('whatever the period, opening, movements and closing agree with the ledger, and the next one opens where it closed', async () => {
  const days = ['2026-09-30', '2026-10-01', '2026-10-12', '2026-10-31', '2026-11-01', '2027-08-01'];
  for (const from of days)
    for (const to of days.filter((day) => day >= from)) {
      const { accounts } = await read(finance, `?from=${from}&to=${to}`);
      for (const one of accounts) {
        const moved = one.movements.reduce(
          (sum, { increase, decrease }) => sum + units(increase) - units(decrease),
          0n,
        );
        const [opening, closing] = [units(one.opening), units(one.closing)];
        expect(opening + moved, `${from} ${to} ${one.account}`).toBe(closing);
        expect(opening).toBe(await heldBefore(one, at(`${from}T00:00:00Z`)));
        expect(closing).toBe(await heldBefore(one, at(`${to}T23:59:59Z`) + 1));
      }
    }
});

test('the file has the same sums, times in UTC, and ends with the number of its rows; an auditor has it of any merchant', async () => {
  const { accounts } = await read(finance, OCTOBER);
  for (const person of [finance, auditor]) {
    const { status, headers, lines } = await readFile(person, OCTOBER);
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toBe('attachment; filename="statement.csv"');
    const [heading, ...rest] = lines;
    expect(heading).toBe(
      'from_utc,before_utc,account,currency,kind,network,entries,increase,decrease,balance,as_of_utc,is_final',
    );
    const rows = rest.slice(0, -2).map((line) => line.split(','));
    expect(rest.slice(-2)).toEqual([`# ${rows.length} rows`, '']);
    expect(rows[0]?.slice(0, 2)).toEqual(['2026-10-01 00:00:00', '2026-11-01 00:00:00']);
    expect(new Set(rows.map((row) => row.at(-1)))).toEqual(new Set(['true']));
    for (const { account, opening, closing } of accounts) {
      const own = rows.filter((row) => row[2] === account);
      expect([own[0]?.[4], own[0]?.[9], own.at(-1)?.[4], own.at(-1)?.[9]]).toEqual([
        'opening',
        opening,
        'closing',
        closing,
      ]);
      const moved = own
        .slice(1, -1)
        .reduce((sum, row) => sum + units(row[7] ?? '') - units(row[8] ?? ''), 0n);
      expect(units(opening) + moved).toBe(units(closing));
    }
  }
});

test('nobody reads the statement of a merchant they have no role with, and no period is refused with a 500', async () => {
  const other = await service.createMerchant();
  expect((await read(finance, OCTOBER, other)).status).toBe(403);
  expect((await readFile(finance, OCTOBER, other)).status).toBe(403);
  expect((await read(auditor, OCTOBER, other)).status).toBe(200);
  const stranger = { ...other, merchantId: newId() };
  for (const person of [finance, auditor]) expect((await read(person, '', stranger)).status).toBe(403);
  for (const query of [
    '?from=2026-02-30',
    '?from=0001-01-01&to=9999-12-31',
    '?to=2026',
    '?from=&to=',
    '?x=1',
  ])
    expect([query, (await read(finance, query)).status]).toEqual([query, 400]);
  expect((await readFile(finance, '?from=2026-02-30')).status).toBe(400);
});

test('a period that is over stays as it is while money moves', async () => {
  const before = await read(finance, OCTOBER);
  const now = service.app.clock.nowSeconds();
  const move = async () => {
    for (let n = 0; n < 20; n++)
      await transact(service.app.db, (tx) => post(tx, merchant.merchantId, [paid(payment, 3n)], now));
  };
  const look = async () => {
    for (let n = 0; n < 10; n++) expect((await read(finance, OCTOBER)).accounts).toEqual(before.accounts);
  };
  await Promise.all([move(), look(), look()]);
});

interface Figures {
  from: string;
  to: string;
  days: string[];
  data: { day: string; currency: string | null; sessions: number; paid: number; volume: string }[];
  volume: { currency: string; payments: number; amount: string }[];
  checkout: { sessions: number; ended: number; paid: number; success_percent: string | null };
  subscriptions: object;
}
interface Overview {
  first_steps: Record<'key' | 'request' | 'payment' | 'webhook' | 'person', boolean>;
  balances: { currency: string; available: number; held: number }[];
  webhooks: object;
  networks: { network: string; stops: object[] }[];
}

type Place = Pick<TestMerchant, 'merchantId' | 'storeId'>;
const overviewPath = ({ merchantId, storeId }: Place, rest = '') =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}/overview${rest}`;

async function figures(person: Person, query: string, of: Place = merchant) {
  const { status, text } = await person.call(overviewPath(of, `/figures${query}`));
  const body: Figures = JSON.parse(text);
  return { status, body };
}
async function overview(person: Person, of: Place = merchant) {
  const { status, text } = await person.call(overviewPath(of));
  const body: Overview = JSON.parse(text);
  return { status, body };
}

/** A payment of checkout as it stands in the database. */
async function addPayment(
  time: string,
  { status = 'completed', received = 0n, currency = 'USDT' as 'USDT' | 'USDC' | null } = {},
) {
  const completed = status === 'completed' ? at(time) : null;
  await sql`insert into payment (merchant_id, store_id, payment_id, session_id, amount, currency, status, created_at,
      completed_at, received_amount, chosen_currency)
    values (${merchant.merchantId}, ${merchant.storeId}, ${newId()}, ${newId()}, 900, 'USD', ${status}, ${at(time)},
      ${completed}, ${received}, ${currency})`.execute(service.app.db);
}

test('days are those of the time zone, also where the clock is put back, and their sums are those of the period', async () => {
  // In Madrid 25 October 2026 has 25 hours and ends at 23:00 UTC.
  await addPayment('2026-10-24T21:59:59Z', { received: 1_000_000n });
  await addPayment('2026-10-24T22:00:00Z', { received: 2_000_000n });
  await addPayment('2026-10-25T22:59:59Z', { received: 4_000_000n, currency: 'USDC' });
  await addPayment('2026-10-25T23:00:00Z', { status: 'expired' });
  await addPayment('2026-10-26T12:00:00Z', { status: 'pending', currency: null });
  const query = '?from=2026-10-24&to=2026-10-26';
  const { body } = await figures(finance, `${query}&time_zone=Europe/Madrid`);
  expect(body.days).toEqual(['2026-10-24', '2026-10-25', '2026-10-26']);
  expect(body.data.map((one) => [one.day, one.currency, one.sessions, one.paid, one.volume])).toEqual([
    ['2026-10-24', 'USDT', 1, 1, '1.00'],
    ['2026-10-25', 'USDC', 1, 1, '4.00'],
    ['2026-10-25', 'USDT', 1, 1, '2.00'],
    ['2026-10-26', null, 1, 0, '0.00'],
    ['2026-10-26', 'USDT', 1, 0, '0.00'],
  ]);
  expect(body.volume).toEqual([
    { currency: 'USDT', payments: 2, amount: '3.00' },
    { currency: 'USDC', payments: 1, amount: '4.00' },
  ]);
  expect(body.checkout).toEqual({ sessions: 5, ended: 4, paid: 3, success_percent: '75.0' });
  const utc = (await figures(finance, query)).body;
  expect(utc.data.map(({ day }) => day)).toContain('2026-10-24');
  expect(utc.data.find(({ day, currency }) => day === '2026-10-24' && currency === 'USDT')?.volume).toBe(
    '3.00',
  );
  const file = await fetch(`${service.baseUrl}${overviewPath(merchant, `/figures${query}`)}`, {
    headers: { cookie: finance.cookie, accept: 'text/csv' },
  });
  const lines = (await file.text()).split('\r\n');
  expect(lines[0]).toBe('day,time_zone,currency,sessions,ended,paid,payments,volume');
  expect(lines).toContain('2026-10-24,UTC,USDT,2,2,2,2,3.00');
  expect(lines.slice(-2)).toEqual([`# ${lines.length - 3} rows`, '']);
});

test('first steps, subscriptions, balances, webhooks and networks are what is there; another store has none of it', async () => {
  const before = (await overview(finance)).body;
  expect(before.first_steps).toEqual({
    key: true,
    request: false,
    payment: true,
    webhook: false,
    person: false,
  });
  await merchant.sdk.webhookEndpoints.create({ url: 'https://webhooks.test/200' });
  await signIn(service, merchant, 'viewer');
  for (const [interval, amount] of [
    ['month', 1_000],
    ['year', 12_000],
    ['week', 1_200],
  ] as const)
    await addSubscription(service, merchant, { status: 'active', interval, amount: BigInt(amount) });
  // When a key was last used is written behind its requests.
  const firstSteps = async () => (await overview(finance)).body.first_steps;
  await expect.poll(firstSteps).toMatchObject({ request: true, webhook: true, person: true });
  const after = (await overview(finance)).body;
  // A year is twelve months, 52 weeks are twelve months.
  const { subscriptions } = (await figures(finance, '')).body;
  expect(subscriptions).toMatchObject({
    active: 3,
    monthly: [{ currency: 'USD', amount: 7_200 }],
    is_whole: true,
  });
  expect(after.webhooks).toMatchObject({ endpoints: 1, disabled: 0, failing: 0, failed: 0 });
  const balances = (await merchant.sdk.balances.retrieve()).data;
  expect(after.balances.map(({ available }) => available)).toEqual(
    balances.map(({ available }) => available),
  );
  expect(after.networks.map(({ stops }) => stops)).toEqual([[], [], []]);
  const other = await service.addStore(merchant);
  const empty = (await figures(finance, '', other)).body;
  expect([empty.data, empty.checkout.success_percent]).toEqual([[], null]);
  expect((await overview(finance, other)).body.first_steps.payment).toBe(false);
});

test('an overview of a foreign merchant or store shows nothing, and a period or zone that is none is refused', async () => {
  const other = await service.createMerchant();
  const query = '?from=2026-10-24&to=2026-10-26';
  expect((await figures(finance, query, other)).status).toBe(403);
  expect((await overview(finance, other)).status).toBe(403);
  const foreign = await signIn(service, other, 'owner');
  const mixed = { merchantId: other.merchantId, storeId: merchant.storeId };
  expect((await figures(foreign, query, mixed)).body).toMatchObject({ data: [] });
  expect((await overview(foreign, mixed)).body).toMatchObject({
    first_steps: { key: false, request: false, payment: false, webhook: false },
  });
  expect((await figures(foreign, query, merchant)).status).toBe(403);
  for (const refused of [
    '?time_zone=Nowhere/Else',
    '?time_zone=%27%3B--',
    '?time_zone=',
    '?from=2026-01-01&to=2026-12-31',
    '?from=2026-02-30',
    '?to=2026-02-30',
    '?to=0001-01-05',
    '?from=2027-01-01&to=2026-01-01',
  ])
    expect([refused, (await figures(finance, refused)).status]).toEqual([refused, 400]);
});

test('what Home reads of a period has the connections and turns of reports, and keeps nothing else of it waiting', async () => {
  const owner = new pg.Client({ connectionString: service.app.databaseUrl });
  await owner.connect();
  await owner.query('begin; lock table subscription in access exclusive mode');
  const waiting = Array.from({ length: 4 }, () => figures(finance, ''));
  expect((await Promise.race(waiting)).status).toBe(429);
  expect((await overview(finance)).status).toBe(200);
  await owner.end();
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429]);
});

test('a person reads a few statements at a time, and each may take longer than other statements', async () => {
  const { app } = service;
  const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(app.reportsDb);
  expect(rows).toEqual([{ statement_timeout: '1min' }]);
  const owner = new pg.Client({ connectionString: app.databaseUrl });
  await owner.connect();
  await owner.query('begin; lock table ledger_entry in access exclusive mode');
  const waiting = Array.from({ length: 4 }, () => read(finance, OCTOBER));
  const refused = await Promise.race(waiting);
  await owner.end();
  expect(refused.status).toBe(429);
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429]);
});
