import { type KyselyPlugin, PostgresQueryCompiler } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRequest, listRequests } from '../../packages/server/src/request-log/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { loggedOf } from './logged.ts';

let service: TestService;
let merchant: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  other = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

/** The database, and the text of each query of the request log. */
function watched() {
  const texts: string[] = [];
  const watch: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      const text = new PostgresQueryCompiler().compileQuery(node, queryId).sql;
      if (text.includes('from "request_log"')) texts.push(text);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { db: service.app.db.withPlugin(watch), texts };
}

test('an id of ours is the request that got it, though somebody else has sent it as an id of theirs', async () => {
  const mine = await send(`${service.baseUrl}/api/v1/balances`, merchant);
  const id = mine.headers.get('x-request-id') ?? '';
  await loggedOf(service, mine);
  await send(`${service.baseUrl}/api/v1/events`, other, { headers: { 'x-request-id': id } });
  await service.app.requestLog?.flush();
  const { db, texts } = watched();
  expect(await findRequest(db, id)).toMatchObject({ id, route: '/api/v1/balances' });
  // Its day is in the id: one partition, by its key.
  expect(texts).toHaveLength(1);
  expect(texts[0]).toMatch(/"merchant_id" in \(select .+\) and "request_id" = \$1/);
  expect(texts[0]).not.toContain('callers_id" =');
  expect(await findRequest(db, id, other.merchantId)).toMatchObject({ route: '/api/v1/events' });
});

test('what only failed requests have is read by their index', async () => {
  for (const filter of [{ refusal: 'signature' }, { errorCode: 'forbidden' }]) {
    const { db, texts } = watched();
    await listRequests(db, { merchantId: merchant.merchantId, ...filter }, { limit: 1, after: undefined });
    expect(texts[0]).toContain('"status" >=');
  }
});
