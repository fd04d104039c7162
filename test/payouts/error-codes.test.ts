import { randomUUID } from 'node:crypto';
import { PAYOUT_ERRORS, type PayoutErrorCode } from '@florin/contract/errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRiskAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { TRANSFER_SETTINGS } from '../../packages/server/src/transfers/index.ts';
import { openProxy } from '../jobs/cuttable-proxy.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { type MerchantOptions, startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';
import { bodyOf, type Calls, caller, configure, draft, TO } from './requests.ts';

let service: TestService;
/** A merchant with a million on each network, which no test spends. */
let rich: TestMerchant;
let calls: Calls;

beforeAll(async () => {
  service = await startService();
  rich = await service.createMerchant();
  calls = caller(service, rich);
});
afterAll(() => service.stop());

async function another(options?: MerchantOptions): Promise<{ merchant: TestMerchant; calls: Calls }> {
  const merchant = await service.createMerchant(options);
  return { merchant, calls: caller(service, merchant) };
}

/** A merchant with 100.00 USDT on erc20 and 100.00 on trc20: 200.00 available. */
async function modest(): Promise<Calls> {
  const poor = await another({ funds: 0n });
  for (const network of ['erc20', 'trc20'] as const) {
    await poor.merchant.sdk.testHelpers.fund({ currency: 'USDT', network, amount: '100' });
  }
  return poor.calls;
}

/** Submits a new batch of a merchant whose settings are `values`. */
async function submitUnder(values: Parameters<typeof configure>[2], amounts: string[]): Promise<Answer> {
  const own = await another();
  await configure(service, own.merchant, values);
  const batch = await draft(own.calls, amounts);
  return await own.calls.submit(batch.batch_id);
}

async function submitPaused(paused: string): Promise<Answer> {
  const own = await another();
  await writeSetting(service.app.db, own.merchant.merchantId, TRANSFER_SETTINGS.paused as never, paused);
  const batch = await draft(own.calls, ['1']);
  const refused = await own.calls.submit(batch.batch_id);
  expect(await own.calls.read(batch.batch_id)).toEqual(batch);
  return refused;
}

async function editOf(amount: string, values: Parameters<typeof configure>[2]): Promise<Answer> {
  const own = await another();
  const batch = await draft(own.calls, ['50', '50']);
  const [item] = await own.calls.items(batch.batch_id);
  await configure(service, own.merchant, values);
  const body = JSON.stringify({ ...bodyOf([amount]).items[0] });
  const path = `/payout-batches/${batch.batch_id}/items/${item?.item_id}`;
  const refused = await own.calls.call(path, { method: 'PUT', body });
  expect(await own.calls.read(batch.batch_id)).toEqual(batch);
  expect((await own.calls.items(batch.batch_id))[0]).toEqual(item);
  return refused;
}

type Cause = [what: string, reach: () => Promise<Answer>];

/** Each code by every cause that the documentation names. A code without a cause does not compile. */
const CAUSES: Record<PayoutErrorCode, Cause[]> = {
  invalid_request: [
    ['no Idempotency-Key', () => calls.post('/payout-batches', bodyOf(['1']))],
    ['no JSON', () => calls.create('{"currency":')],
    ['an unknown field', () => calls.create({ ...bodyOf(['1']), note: 'x' })],
    ['201 items', () => calls.create(bodyOf(Array.from({ length: 201 }, () => '1')))],
    ['null for a description', () => calls.create({ ...bodyOf(['1']), description: null })],
    [
      'a second cancel',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        await calls.cancel(batch_id);
        return await calls.cancel(batch_id);
      },
    ],
    [
      'an edit of a canceled batch',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        const [item] = await calls.items(batch_id);
        await calls.cancel(batch_id);
        const body = JSON.stringify(bodyOf(['2']).items[0]);
        return await calls.call(`/payout-batches/${batch_id}/items/${item?.item_id}`, {
          method: 'PUT',
          body,
        });
      },
    ],
    ['an unknown status to filter by', () => calls.call('/payout-batches?status=sent')],
    ["a cursor of another merchant's list", () => calls.call(`/payout-batches?starting_after=${foreign}`)],
  ],
  address_risk_rejected: [
    [
      'the test address that is listed from submit on',
      async () => await calls.submit((await draft(calls, ['1'], { to: 'risk_rejected' })).batch_id),
    ],
    [
      'an address that the operator lists between create and submit',
      async () => {
        const { batch_id } = await draft(calls, ['1'], { network: 'spl', to: 'stuck' });
        const entry = { network: 'spl' as const, address: TO.spl.stuck, reason: 'test' };
        await addRiskAddress(service.app.db, entry, service.app.clock.nowMs());
        return await calls.submit(batch_id);
      },
    ],
  ],
  batch_amount_limit_exceeded: [
    ['a cent above the maximum', () => calls.create(bodyOf(['999999.99', '0.02']))],
    [
      'invalid items count too',
      () => {
        const items = [
          ...bodyOf(['999999.99']).items,
          { network: 'erc20', address: 'nowhere', amount: '0.02' },
        ];
        return calls.create({ currency: 'USDT', items });
      },
    ],
    ['300 digits', () => calls.create(bodyOf(['9'.repeat(300)]))],
    [
      '200 items of 300 digits',
      () => calls.create(bodyOf(Array.from({ length: 200 }, () => '9'.repeat(300)))),
    ],
    ['19 digits, more than the column holds', () => calls.create(bodyOf(['9223372036854775808']))],
    ['an edit to 300 digits', () => editOf('9'.repeat(300), {})],
    ['an edit above a maximum that the operator lowered', () => editOf('51', { max: '100.00' })],
  ],
  batch_amount_too_low: [
    [
      'below a minimum that the operator raised',
      async () => {
        const own = await another();
        await configure(service, own.merchant, { min: '10.00' });
        return await own.calls.create(bodyOf(['9.99']));
      },
    ],
    ['an edit', () => editOf('49.99', { min: '100.00' })],
    [
      'a deleted item',
      async () => {
        const own = await another();
        const { batch_id } = await draft(own.calls, ['50', '50']);
        const [item] = await own.calls.items(batch_id);
        await configure(service, own.merchant, { min: '100.00' });
        return await own.calls.call(`/payout-batches/${batch_id}/items/${item?.item_id}`, {
          method: 'DELETE',
        });
      },
    ],
  ],
  batch_cannot_submit: [
    [
      'submitted before',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        expect((await calls.submit(batch_id)).status).toBe(200);
        return await calls.submit(batch_id);
      },
    ],
    [
      'canceled',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        await calls.cancel(batch_id);
        return await calls.submit(batch_id);
      },
    ],
    [
      'an invalid item',
      async () => {
        const items = [...bodyOf(['1']).items, { network: 'erc20', address: 'nowhere', amount: '1' }];
        const created = await calls.create({ currency: 'USDT', items });
        return await calls.submit(String(created.json.batch_id));
      },
    ],
    [
      'an address that was found listed before',
      async () => {
        const { batch_id } = await draft(calls, ['1'], { to: 'risk_rejected' });
        await calls.submit(batch_id);
        return await calls.submit(batch_id);
      },
    ],
  ],
  batch_empty_items: [
    ['no items', () => calls.create({ currency: 'USDT', items: [] })],
    [
      'the last item deleted',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        const [item] = await calls.items(batch_id);
        return await calls.call(`/payout-batches/${batch_id}/items/${item?.item_id}`, { method: 'DELETE' });
      },
    ],
  ],
  insufficient_balance: [
    [
      'nothing there',
      async () => {
        const { calls: poor } = await another({ funds: 0n });
        return await poor.submit((await draft(poor, ['1'])).batch_id);
      },
    ],
    [
      'the amounts are covered, the fees are not',
      async () => {
        const poor = await modest();
        return await poor.submit((await draft(poor, ['199'])).batch_id);
      },
    ],
  ],
  custody_balance_insufficient: [
    [
      'coins on other networks cover it',
      async () => {
        const poor = await modest();
        return await poor.submit((await draft(poor, ['100.01'])).batch_id);
      },
    ],
  ],
  quota_blocked: [
    ['one batch above the quota', () => submitUnder({ dailyQuota: '99.99' }, ['100'])],
    [
      'the second batch of the day',
      async () => {
        const own = await another();
        await configure(service, own.merchant, { dailyQuota: '100.00' });
        expect((await own.calls.submit((await draft(own.calls, ['60'])).batch_id)).status).toBe(200);
        return await own.calls.submit((await draft(own.calls, ['40.01'])).batch_id);
      },
    ],
    [
      'real money on a network that the operator has not turned on for the merchant',
      async () => {
        const live = await another({ mode: 'live' });
        return await live.calls.submit((await draft(live.calls, ['1'])).batch_id);
      },
    ],
  ],
  authentication_required: [
    [
      'a wrong secret',
      () =>
        send(`${service.baseUrl}/api/v1/payout-batches`, {
          apiKey: rich.apiKey,
          secretKey: 'fls_test_wrong',
        }),
    ],
    [
      'no headers, on a path that does not exist',
      async () => {
        const response = await fetch(`${service.baseUrl}/api/v1/payout-batches/x/y/z`);
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
      },
    ],
  ],
  forbidden: [
    [
      'a key without the scope',
      async () => (await another({ scopes: ['read'] })).calls.create(bodyOf(['1'])),
    ],
    [
      'a disabled store',
      async () => {
        const own = await another();
        await stores.changeStore(service.app, own.merchant, { enabled: false });
        return await own.calls.create(bodyOf(['1']));
      },
    ],
    [
      'a suspended merchant',
      async () => {
        const own = await another();
        await stores.setMerchantStatus(service.app, own.merchant.merchantId, 'suspended');
        return await own.calls.create(bodyOf(['1']));
      },
    ],
  ],
  resource_not_found: [
    ['an unknown batch', () => calls.submit(encodeId('payoutBatch', newId()))],
    ['a malformed id', () => calls.cancel('pb_1')],
    ["another merchant's batch", () => calls.submit(foreign)],
    ["another merchant's items", () => calls.call(`/payout-batches/${foreign}/items`)],
    ['an unknown path', () => calls.call('/payout-batches/x/y/z')],
  ],
  conflict: [
    [
      'a key used with other parameters',
      async () => {
        const key = randomUUID();
        await calls.create(bodyOf(['1']), key);
        return await calls.create(bodyOf(['2']), key);
      },
    ],
  ],
  rate_limited: [
    [
      'a burst above the limit',
      async () => {
        const slow = await service.addNode({ rate: { perSecond: 1, burst: 1 } });
        const there = caller(service, rich, slow);
        await there.call('/payout-batches');
        return await there.call('/payout-batches');
      },
    ],
  ],
  payout_error: [
    [
      'a tampered row: a fraction of a cent',
      async () => {
        const { batch_id } = await draft(calls, ['1']);
        await asOwner(service, `update payout_item set amount = 1000001 where batch_id = $1`, [
          decodeId('payoutBatch', batch_id),
        ]);
        return await calls.submit(batch_id);
      },
    ],
  ],
  service_unavailable: [
    ['a paused network', () => submitPaused('erc20')],
    ['a paused token', () => submitPaused('USDT:erc20')],
    [
      'a live merchant on an installation without a node',
      async () => {
        const live = await another({ mode: 'live' });
        const merchant = encodeId('merchant', live.merchant.merchantId);
        await networkCommands(service.app).enable(merchant, 'erc20');
        return await live.calls.submit((await draft(live.calls, ['1'])).batch_id);
      },
    ],
    [
      'the database is away',
      async () => {
        const line = await openProxy(service.app.databaseUrl);
        const node = await service.addNode({ databaseUrl: line.url });
        const there = caller(service, rich, node);
        expect((await there.create(bodyOf(['1']))).status).toBe(200);
        line.cut();
        const refused = await there.create(bodyOf(['1']));
        line.mend();
        expect((await there.create(bodyOf(['1']))).status).toBe(200);
        return refused;
      },
    ],
  ],
};

let foreign: string;
beforeAll(async () => {
  foreign = (await draft((await another()).calls, ['1'])).batch_id;
});

test('every code of the payout format has a cause here', () => {
  expect(Object.keys(CAUSES).sort()).toEqual(Object.keys(PAYOUT_ERRORS).sort());
  expect(Object.values(CAUSES).filter((causes) => causes.length === 0)).toEqual([]);
});

for (const [code, causes] of Object.entries(CAUSES) as [PayoutErrorCode, Cause[]][]) {
  for (const [what, reach] of causes) {
    test(`${code}: ${what}`, async () => {
      const answer = await reach();
      expect(answer.json.errorCode, answer.text).toBe(code);
      const { status } = PAYOUT_ERRORS[code];
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({ code: status, message: expect.any(String), errorCode: code, data: null });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-request-id')).toBeTruthy();
      const comesBack = status === 503 || status === 429;
      if (comesBack) expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
    });
  }
}

test('H1: after all these refusals the ledger is whole', async () => {
  await expectLedgerWhole(service);
});
