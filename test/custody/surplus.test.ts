import { NETWORKS, type Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseSweeps } from '../../packages/server/src/custody/sweep-queries.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { TOKEN } from '../checkout/requests.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { all } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { Process } from '../transfers/process.ts';
import { creditedPayment, operatorsOf } from './audits.ts';

const AMOUNT = { details: { param: 'amount' } };
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

/** A merchant with 100 USDT at a deposit address, a stranger who sends to its wallet, and people who book it. */
async function dusted(network: Network) {
  const own = await creditedPayment(service, network);
  const { merchantId } = own.merchant;
  const merchant = encodeId('merchant', merchantId);
  const [ann, bob] = [
    await addApprover(service.app, merchantId, 'Ann'),
    await addApprover(service.app, merchantId, 'Bob'),
  ];
  const wallet = await own.chain.hotAddress();
  const book = (as: string, amount: string, reference: string, change: { token?: string } = {}) => {
    const words = { network, currency: 'USDT', amount, reference, as, token: as === 'Ann' ? ann : bob };
    return networkCommands(service.app).bookSurplus({ ...words, ...change }, merchant);
  };
  return {
    ...own,
    merchantId,
    wallet,
    ann,
    book,
    /** A stranger's coins come into the hot wallet, final. */
    dust: async (units: number) => {
      const from = own.chain.payerAddress('a stranger');
      await own.chain.pay({ transfers: [{ from, to: wallet, asset: 'USDT', amount: BigInt(units) }] });
      await own.chain.mine(4);
    },
    /** Coins leave an address without a transaction of ours. */
    steal: (address: string, units: number) =>
      sql`update simchain.account set balance = balance - ${units}
        where merchant_id = ${merchantId} and network = ${network} and address = ${address} and currency = 'USDT'`.execute(
        service.app.db,
      ),
    verify: async () => {
      const { differences, surpluses } = await verifyLedger(service.app, () => {});
      const isOwn = (one: { merchant_id: string }) => one.merchant_id === merchant;
      return { differences: differences.filter(isOwn), surpluses: surpluses.filter(isOwn) };
    },
  };
}

test.each(NETWORKS)(
  'on %s a stranger’s coins are named apart, and two people book them as the operator’s, once',
  async (network) => {
    const { merchant, merchantId, wallet, dust, book, verify } = await dusted(network);
    const before = await merchant.sdk.balances.retrieve();
    await dust(5 * TOKEN);
    const merchant_id = encodeId('merchant', merchantId);
    const surplus = { merchant_id, network, currency: 'USDT', wallet, amount: BigInt(5 * TOKEN) };
    expect(await verify()).toEqual({ differences: [], surpluses: [surplus] });
    // Of all merchants of this file.
    const { surpluses: found } = await verifyLedger(service.app, () => {});
    expect(await metric('florin_ledger_surpluses')).toBe(found.length);
    await expect(book('Ann', '5.000001', 'more')).rejects.toMatchObject(AMOUNT);
    await expect(book('Ann', '5.00', 'A', { token: 'not hers' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const first = await book('Ann', '4.00', 'A');
    expect(first).toMatchObject({ agreed: 1, required: 2, done: false, repeated: false, amount: '4.00' });
    await expect(book('Ann', '4.00', 'A')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(book('Bob', '3.00', 'A')).rejects.toMatchObject({ code: 'conflict' });
    expect(await book('Bob', '4.00', 'B')).toMatchObject({ agreed: 1, done: false });
    expect(await operatorsOf(service, merchantId)).toEqual({});
    const second = await book('Bob', '4.00', 'A');
    expect(second).toMatchObject({ surplus_id: first.surplus_id, agreed: 2, done: true, repeated: false });
    expect(await book('Ann', '4.00', 'A')).toMatchObject({ done: true, repeated: true });
    // The same coins are not booked under another name.
    await expect(book('Ann', '4.00', 'B')).rejects.toMatchObject(AMOUNT);
    expect(await operatorsOf(service, merchantId)).toEqual({
      [`float:${network}`]: BigInt(4 * TOKEN),
      [`kept:${network}`]: BigInt(4 * TOKEN),
    });
    expect(await verify()).toEqual({
      differences: [],
      surpluses: [{ ...surplus, amount: BigInt(TOKEN) }],
    });
    await book('Ann', '1.00', 'C');
    await book('Bob', '1.00', 'C');
    await expectLedgerWhole(service);
    expect(await merchant.sdk.balances.retrieve()).toEqual(before);
    expect(await all(merchant.sdk.ledgerEntries.list({ cause: first.surplus_id }))).toMatchObject([
      { debit: `float:${network}`, credit: `kept:${network}`, amount: 4 * TOKEN },
    ]);
  },
);

test('concurrent votes book the same coins once', async () => {
  const { merchantId, dust, book } = await dusted('trc20');
  await dust(7 * TOKEN);
  for (const reference of ['A', 'B', 'C']) await book('Ann', '3.00', reference);
  const said = ['A', 'A', 'B', 'B', 'C', 'C'].map((reference) => book('Bob', '3.00', reference));
  const booked = (await Promise.allSettled(said)).flatMap((one) =>
    one.status === 'fulfilled' && !one.value.repeated ? [one.value] : [],
  );
  expect(booked.filter(({ done }) => done)).toHaveLength(2);
  expect((await operatorsOf(service, merchantId))['float:trc20']).toBe(BigInt(6 * TOKEN));
  await book('Ann', '1.00', 'rest');
  await book('Bob', '1.00', 'rest');
  await expectLedgerWhole(service);
});

test('a surplus never offsets coins that are missing from an address of ours', async () => {
  const { dust, steal, verify, address, book, chain } = await dusted('erc20');
  await dust(5 * TOKEN);
  await steal(address, 5 * TOKEN);
  const { differences, surpluses } = await verify();
  expect(differences).toMatchObject([{ expected: BigInt(100 * TOKEN), found: BigInt(95 * TOKEN) }]);
  expect(differences[0]?.what).toContain(address);
  expect(surpluses).toMatchObject([{ amount: BigInt(5 * TOKEN) }]);
  await steal(address, -5 * TOKEN);
  await book('Ann', '5.00', 'A');
  await book('Bob', '5.00', 'A');
  await steal(await chain.hotAddress(), 1);
  expect(await verify()).toMatchObject({ differences: [{ expected: BigInt(5 * TOKEN) }], surpluses: [] });
  await steal(await chain.hotAddress(), -1);
  await expectLedgerWhole(service);
});

test('a sweep that was decided as failed and moved its coins after all is no difference', async () => {
  const { merchantId, verify } = await dusted('erc20');
  await new Process(service.app, merchantId).finish('erc20');
  const { db } = service.app;
  const { rows } = await sql<{ owner_id: string }>`
    update transfer set status = 'failed', failure_code = 'transfer_failed', failure_message = 'failed on the network'
    where merchant_id = ${merchantId} and owner_type = 'sweep' returning owner_id`.execute(db);
  expect(rows).toHaveLength(1);
  await transact(db, (tx) => releaseSweeps(tx, merchantId, [rows[0]?.owner_id ?? '']));
  expect((await verify()).differences).toHaveLength(1);
  await sql`
    update transfer_attempt set status = 'failed', stray_ids = item_ids where merchant_id = ${merchantId}`.execute(
    db,
  );
  expect(await verify()).toEqual({ differences: [], surpluses: [] });
});
