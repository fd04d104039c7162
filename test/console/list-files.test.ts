import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Person, signIn } from './people.ts';

const OPERATOR = '/console/api/operator';
/** More than two slices of an export. */
const LISTED = 1_203;
let service: TestService;
let merchant: TestMerchant;
let auditor: Person;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  auditor = await signIn(service, { merchantId: NIL_ID, storeId: NIL_ID }, 'auditor');
});
afterAll(() => service.stop());

async function fileOf(person: Person, path: string) {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    headers: { cookie: person.cookie, 'x-csrf-token': person.csrf, accept: 'text/csv' },
  });
  const text = await answer.text();
  const [heading = '', ...lines] = text.trimEnd().split('\r\n');
  return { status: answer.status, heading, lines, last: lines.at(-1) };
}

test('lists of the console are files as well: all that fits the filter, and a last line with their number', async () => {
  const address = `0x${'0'.repeat(36)}`;
  await sql`
    insert into risk_address (network, address, reason, created_at_ms)
    select 'erc20', ${address} || lpad(to_hex(n), 4, '0'), '=1+1', 0 from generate_series(1, ${LISTED}) as n`.execute(
    service.app.db,
  );
  const risk = await fileOf(auditor, `${OPERATOR}/risk-list`);
  expect([risk.status, risk.heading, risk.last]).toEqual([
    200,
    'network,address,reason',
    expect.stringMatching(/^# \d+ rows$/),
  ]);
  const own = risk.lines.filter((line) => line.includes(address));
  expect([own.length, new Set(own).size]).toEqual([LISTED, LISTED]);
  // No cell is a formula.
  expect(own[0]).toMatch(/'=1\+1/);
  expect((await fileOf(auditor, `${OPERATOR}/risk-list?address=${address}0001`)).last).toBe('# 1 rows');

  const merchants = await fileOf(auditor, `${OPERATOR}/merchants`);
  expect(merchants.lines.join('\n')).toContain(encodeId('merchant', merchant.merchantId));
  const stores = await fileOf(auditor, `${OPERATOR}/stores`);
  expect(stores.lines.join('\n')).toContain(encodeId('store', merchant.storeId));
  expect((await fileOf(auditor, `${OPERATOR}/seizures`)).last).toBe('# 0 rows');

  await sql`
    insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, attempts, last_error)
    select ${merchant.merchantId}::uuid, gen_random_uuid(), 'no-such-kind', n::text, 4e12, 1 + n % 3, 'x'
    from generate_series(1, ${LISTED}) as n`.execute(service.app.db);
  const jobs = await fileOf(auditor, `${OPERATOR}/jobs`);
  expect([jobs.last, new Set(jobs.lines).size]).toEqual([`# ${LISTED} rows`, LISTED + 1]);
  expect((await fileOf(auditor, `${OPERATOR}/jobs?starting_after=1%20x`)).status).toBe(400);

  const owner = await signIn(service, merchant, 'owner');
  const team = `/console/api/merchants/${encodeId('merchant', merchant.merchantId)}/users`;
  expect((await fileOf(owner, team)).lines).toEqual([expect.stringContaining(owner.email), '# 1 rows']);
  expect((await fileOf(owner, `${OPERATOR}/stores`)).status).toBe(403);
});
