import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, type SignedOptions, send } from '../signed-request.ts';
import { type Api, callOf, loadApi } from './operations.ts';
import { imageOfDatabase, query } from './rows.ts';

const BATCHES = '/api/v1/payout-batches';

let service: TestService;
let merchant: TestMerchant;
let api: Api;

/** The database itself tells how each write of a nonce was committed. */
const RECORDER = `
  create table nonce_write (nonce text not null, synchronous text not null);
  create function record_nonce_write() returns trigger language plpgsql security definer as $$
  begin
    insert into nonce_write values (new.nonce, current_setting('synchronous_commit'));
    return new;
  end $$;
  create trigger nonce_write after insert or update on nonce for each row execute function record_nonce_write();`;

beforeAll(async () => {
  service = await startService();
  api = await loadApi(service.baseUrl);
  merchant = await service.createMerchant({ funds: 0n });
  await query(service, RECORDER);
});
afterAll(() => service.stop());

/** Sends with a nonce of its own. @returns the answer, and how the nonce was committed: on waits for the disk */
async function watch(
  url: string,
  options: SignedOptions = {},
  sender = merchant,
): Promise<{ answer: Answer; commits: string[] }> {
  const nonce = randomUUID();
  const answer = await send(url, sender, { ...options, nonce });
  const rows = await query(service, 'select synchronous from nonce_write where nonce = $1', [nonce]);
  return { answer, commits: (rows as { synchronous: string }[]).map(({ synchronous }) => synchronous) };
}

test('A2: the nonce of a read is on the disk before its answer', async () => {
  const { answer, commits } = await watch(`${service.baseUrl}/api/v1/balances`);
  expect(answer.status).toBe(200);
  expect(commits).toEqual(['on']);
});

test('A2: the nonce of a busy write is flushed by the commit of its effect', async () => {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20', address: erc20.succeed, amount: '1.00' }];
  const body = JSON.stringify({ currency: 'USDT', items });
  const url = `${service.baseUrl}${BATCHES}`;
  await merchant.sdk.testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: '10.00' });
  for (const action of ['submit', 'cancel']) {
    const created = await watch(url, { body, headers: { 'idempotency-key': action } });
    expect(created).toMatchObject({ answer: { status: 200 }, commits: ['off'] });
    const before = await productRows();
    const acted = await watch(`${url}/${String(created.answer.json.batch_id)}/${action}`, { method: 'POST' });
    expect(acted).toMatchObject({ answer: { status: 200 }, commits: ['off'] });
    expect(await productRows()).not.toBe(before);
  }
});

test('A2: a write without a commit waits for its nonce itself, whatever the route', async () => {
  const writes = api.operations.filter(({ method }) => method !== 'GET');
  expect(writes.length).toBeGreaterThan(0);
  for (const operation of writes) {
    const { url, options } = callOf(service.baseUrl, api, operation);
    const idle = await service.createMerchant({ funds: 0n });
    const before = await productRows();
    const { commits } = await watch(url, options, idle);
    const committed = (await productRows()) !== before;
    expect([operation.operationId, committed || commits.includes('on')]).toEqual([
      operation.operationId,
      true,
    ]);
  }
});

/** All rows that an effect of the product can write: neither nonces nor the simulated chain's own. */
async function productRows(): Promise<string> {
  const tables = Object.entries(await imageOfDatabase(service));
  return JSON.stringify(tables.filter(([name]) => !name.includes('nonce') && !name.startsWith('simchain.')));
}

test('A2: whatever refuses a write, its nonce is on the disk before the refusal', async () => {
  const slow = await service.addNode({ rate: { perSecond: 0.001, burst: 1 } });
  const reader = await service.createMerchant({ scopes: ['read'], funds: 0n });
  const disabled = await service.createMerchant({ funds: 0n });
  await query(service, 'update store set enabled = false where merchant_id = $1', [disabled.merchantId]);
  const url = `${service.baseUrl}${BATCHES}`;
  const headers = { 'idempotency-key': 'taken' };
  const body = '{"currency":"USDT","items":[{"network":"erc20","address":"a","amount":"1.00"}]}';
  await send(url, merchant, { body, headers });
  await send(`${slow}${BATCHES}`, merchant);
  const refused: [status: number, ...Parameters<typeof watch>][] = [
    [400, url, { body: '{}', headers }],
    [400, url, { body }],
    [400, url, { body: '{', headers }],
    [415, url, { body, headers: { ...headers, 'content-type': 'text/plain' } }],
    [403, url, { body, headers }, reader],
    [403, url, { body, headers }, disabled],
    [404, `${url}/pb_unknown/submit`, { body: '{}' }],
    [404, `${url}/pb_unknown/cancel`, { method: 'POST' }],
    [404, `${url}/a/b/c`, { body: '{}' }],
    [405, url, { body, method: 'PUT' }],
    [409, url, { body: body.replace('1.00', '2.00'), headers }],
    [429, `${slow}${BATCHES}`, { body, headers }],
    // Not refused, but nothing is written either.
    [200, url, { body, headers }],
  ];
  for (const [status, ...request] of refused) {
    const { answer, commits } = await watch(...request);
    expect({ status: answer.status, durable: commits.includes('on') }).toEqual({ status, durable: true });
  }
});
