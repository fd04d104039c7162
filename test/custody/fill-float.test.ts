import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { scanOnce } from '../checkout/deposits-by-hand.ts';
import { TOKEN } from '../checkout/requests.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { all } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { auditOnce, creditedPayment, operatorsOf } from './audits.ts';

const AMOUNT = { details: { param: 'amount' } };
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A merchant of whose coins a reorganisation took 100 USDT, and the operator's ways to make up for them. */
async function bereft(network: Network) {
  const own = await creditedPayment(service, network);
  const { merchantId } = own.merchant;
  await own.chain.reorg(40);
  await auditOnce(service, merchantId, network);
  const merchant = encodeId('merchant', merchantId);
  const fill = (amount: string, reference: string, change: { currency?: string; network?: string } = {}) =>
    networkCommands(service.app).fill({ network, currency: 'USDT', amount, reference, ...change }, merchant);
  return {
    ...own,
    merchantId,
    fill,
    /** The operator's coins come into the hot wallet, final. */
    send: (tokens: number, reference: string) => own.chain.fund('USDT', BigInt(tokens * TOKEN), reference),
    operators: async () => {
      const found = await operatorsOf(service, merchantId);
      return ['reorg_loss', 'float', 'kept'].map(
        (kind) => (found[`${kind}:${network}`] ?? 0n) / BigInt(TOKEN),
      );
    },
  };
}

test.each(NETWORKS)(
  'fault 49: on %s what a reorganisation took is filled up by coins that came in, once for each reference',
  async (network) => {
    const { fill, send, operators, merchant } = await bereft(network);
    expect(await operators()).toEqual([100n, -100n, 0n]);
    await expect(fill('60.00', 'A')).rejects.toMatchObject({ code: 'invalid_request', ...AMOUNT });
    const before = await merchant.sdk.balances.retrieve();
    await send(60, 'A');
    await expect(fill('60.000001', 'A')).rejects.toMatchObject(AMOUNT);
    const filled = await fill('60.00', 'A');
    expect(filled).toMatchObject({ repeated: false, amount: '60.00', still_missing: '40.00' });
    expect(await fill('60.00', 'A')).toEqual({ ...filled, repeated: true });
    await expect(fill('10.00', 'A')).rejects.toMatchObject({ code: 'conflict' });
    expect(await operators()).toEqual([100n, -40n, 60n]);
    await expectLedgerWhole(service);
    await send(40, 'B');
    await expect(fill('50.00', 'B')).rejects.toMatchObject(AMOUNT);
    expect(await fill('40.00', 'B')).toMatchObject({ still_missing: '0.00' });
    await expect(fill('10.00', 'C')).rejects.toMatchObject(AMOUNT);
    expect(await operators()).toEqual([100n, 0n, 100n]);
    // Nothing of it is the merchant's but the words in the ledger.
    expect(await merchant.sdk.balances.retrieve()).toEqual(before);
    const entries = await all(merchant.sdk.ledgerEntries.list({ cause: filled.fill_id }));
    expect(entries).toMatchObject([
      { debit: `float:${network}`, credit: `kept:${network}`, amount: 60 * TOKEN },
    ]);
  },
);

test('fault 49: if the loss is filled up and then mined again, the coins are the operator’s, and the books agree', async () => {
  const { fill, send, operators, sendAgain, chain, merchantId } = await bereft('erc20');
  await send(100, 'A');
  await fill('100.00', 'A');
  await sendAgain();
  await chain.mine(4);
  for (let scan = 0; scan < 2; scan++) await scanOnce(service.app, merchantId, 'erc20');
  expect(await operators()).toEqual([0n, 100n, 100n]);
});

test('fault 49: concurrent fills count each coin once, and each reference once', async () => {
  const { fill, send, operators } = await bereft('trc20');
  await send(70, 'all of it');
  const references = ['A', 'A', 'B', 'B', 'C', 'C'];
  const fills = await Promise.allSettled(references.map((reference) => fill('30.00', reference)));
  const booked = fills.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(booked.filter(({ repeated }) => !repeated)).toHaveLength(2);
  expect(await operators()).toEqual([100n, -40n, 60n]);
  for (const one of fills) if (one.status === 'rejected') expect(one.reason).toMatchObject(AMOUNT);
});

test('invalid amounts, currencies, networks and references are refused, and an unreachable chain is 503', async () => {
  const { fill, chain } = await bereft('spl');
  const wrong: [string, () => Promise<unknown>][] = [
    ['currency', () => fill('1.00', 'A', { currency: 'USD' })],
    ['network', () => fill('1.00', 'A', { network: 'btc' })],
    ['reference', () => fill('1.00', '')],
    ['reference', () => fill('1.00', ' A')],
  ];
  for (const text of ['0', '-1', '1e3', '1.0000001', '']) wrong.push(['amount', () => fill(text, 'A')]);
  for (const [param, refused] of wrong) await expect(refused()).rejects.toMatchObject({ details: { param } });
  await chain.outage(60);
  await expect(fill('1.00', 'A')).rejects.toMatchObject({ code: 'service_unavailable' });
  await chain.outage(0);
});
