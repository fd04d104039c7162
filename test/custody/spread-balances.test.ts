import { NETWORKS, type Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Chain } from '../../packages/server/src/chains/port/index.ts';
import type { BalanceFault } from '../../packages/server/src/chains/simulated/spread-balances.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { compareWithChain } from '../../packages/server/src/reconciliation/compare-with-chain.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { scanOnce, sendAs } from '../checkout/deposits-by-hand.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { TO } from '../payouts/requests.ts';
import { startService, type TestService } from '../service.ts';
import { Process } from '../transfers/process.ts';
import { creditedPayment } from './audits.ts';

// Networks without a state of old blocks show many balances as of several blocks (`BalancesAnswer.upTo`).

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A merchant with 100 USDT at a deposit address, and one comparison with the chain, which is not repeated. */
async function credited(network: Network) {
  const own = await creditedPayment(service, network);
  const { merchantId } = own.merchant;
  const compareWhole = async (chain: Chain = own.chain) => {
    const chains = { ...service.app.chains, of: () => chain };
    const merchant = await getMerchant(service.app.db, merchantId);
    const found = await compareWithChain({ db: service.app.db, chains }, { merchant, network });
    return found.map(({ differences, surplus, hidden }) => ({ differences, surplus, hidden }));
  };
  const compare = async (chain?: Chain) =>
    (await compareWhole(chain)).map(({ differences, surplus }) => ({ differences, surplus }));
  /** As `florin ledger verify` does, with another node for this merchant alone. */
  const verify = async (chain: Chain) => {
    const { app } = service;
    const of: typeof app.chains.of = (whose, on) =>
      whose.merchantId === merchantId && on === network ? chain : app.chains.of(whose, on);
    const { differences, surpluses, unseen } = await verifyLedger(
      { ...app, chains: { ...app.chains, of } },
      () => {},
    );
    return { differences, surpluses, unseen };
  };
  const steal = (address: string, units: number) =>
    sql`update simchain.account set balance = balance - ${units}
      where merchant_id = ${merchantId} and network = ${network} and address = ${address} and currency = 'USDT'`.execute(
      service.app.db,
    );
  return { ...own, merchantId, compare, compareWhole, verify, steal };
}

type Credited = Awaited<ReturnType<typeof credited>>;

const EVEN = { differences: [], surplus: 0n };

/** Another deposit of 30 is credited, all of it is swept, and 50 are paid out: all of it final and booked. */
async function movesOfEachKind({ merchant, merchantId, chain, ...own }: Credited, network: Network) {
  await sendAs({ merchant, chain, ...own }, 'another payer', [30]);
  await chain.mine(10);
  await scanOnce(service.app, merchantId, network);
  await new Process(service.app, merchantId).finish(network);
  const items = [{ network, address: TO[network].succeed, amount: '50.00' }];
  const { batch_id: batchId } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  await merchant.sdk.payouts.submit(batchId);
  await new Process(service.app, merchantId).finish(network);
  expect((await merchant.sdk.payouts.retrieve(batchId)).status).toBe('completed');
}

/** A node that takes so long over the balances of USDT that `meanwhile` begins and ends between its addresses. */
function slowNode(
  chain: Chain,
  { hotFirst, meanwhile }: { hotFirst: boolean; meanwhile: () => Promise<void> },
): Chain {
  const balances: Chain['balances'] = async (addresses, asset, at) => {
    if (asset !== 'USDT') return await chain.balances(addresses, asset, at);
    const [hot, deposits] = [addresses.slice(0, 1), addresses.slice(1)];
    const early = await chain.balances(hotFirst ? hot : deposits, asset, at);
    await meanwhile();
    const late = await chain.balances(hotFirst ? deposits : hot, asset, at);
    return {
      height: early.height,
      upTo: late.height,
      balances: new Map([...early.balances, ...late.balances]),
    };
  };
  return new Proxy(chain, {
    get: (target, name) => {
      if (name === 'balances') return balances;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe.each(NETWORKS)('%s', (network) => {
  test.each([true, false])(
    'what begins and ends while the balances are read is no difference and no surplus (hot wallet first: %s)',
    async (hotFirst) => {
      const own = await credited(network);
      let moves = 0;
      const meanwhile = async () => {
        moves += 1;
        await movesOfEachKind(own, network);
      };
      expect(await own.compare(slowNode(own.chain, { hotFirst, meanwhile }))).toEqual([EVEN, EVEN]);
      // Over the list of all, and over those that have moved meanwhile.
      expect(moves).toBe(2);
      expect(await own.compare()).toEqual([EVEN, EVEN]);
      await expectLedgerWhole(service);
    },
  );
});

test.each(['spread_balances', 'spread_balances_back'] as const)(
  'a node with %s: a comparison ends, explains a deposit and a sweep in each block, and finds what is missing to the unit',
  async (fault) => {
    const own = await credited('trc20');
    const { chain, address, compare, steal, merchantId } = own;
    await chain.injectFaults(fault);
    const spread = await chain.balances([await chain.hotAddress(), address], 'USDT', 'final');
    expect(spread.upTo).toBe(spread.height + 1n);
    await sendAs(own, 'another payer', [30]);
    // Each comparison makes two blocks: the deposit becomes final within one and between two of them.
    for (let i = 0; i < 3; i++) expect(await compare()).toEqual([EVEN, EVEN]);
    await chain.mine(1);
    await sendAs(own, 'a third', [7]);
    for (let i = 0; i < 3; i++) expect(await compare()).toEqual([EVEN, EVEN]);
    await scanOnce(service.app, merchantId, 'trc20');
    const process = new Process(service.app, merchantId, {
      at: async ({ name }) => {
        if (name === 'after broadcast')
          for (let i = 0; i < 3; i++) expect(await compare()).toEqual([EVEN, EVEN]);
      },
    });
    await process.finish('trc20');
    await steal(await chain.hotAddress(), 1);
    const expected = BigInt(137 * TOKEN);
    const missing = { currency: 'USDT', what: expect.any(String), expected, found: expected - 1n };
    expect(await compare()).toEqual([{ differences: [missing], surplus: 0n }, EVEN]);
    await steal(await chain.hotAddress(), -3);
    expect(await compare()).toEqual([{ differences: [], surplus: 2n }, EVEN]);
    await steal(await chain.hotAddress(), 2);
    await expectLedgerWhole(service);
  },
);

/** Coins in the hot wallet, and a sweep of as many under way, between two addresses that a long list shows as of two blocks. */
async function sweepUnderWay(
  fault: BalanceFault,
  meanwhile: (own: Credited) => Promise<void>,
): Promise<void> {
  const own = await credited('trc20');
  const { app } = service;
  await new Process(app, own.merchantId).finish('trc20');
  const who = { merchantId: own.merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const session = await getSession(app.db, own.merchant, (await checkout(service, own.merchant).open()).id);
  const { options } = await chooseOption(app, who, session, { currency: 'USDT', network: 'trc20' });
  await sendAs({ ...own, address: options[0]?.address ?? '' }, 'another payer', [100]);
  await own.chain.mine(10);
  await scanOnce(app, own.merchantId, 'trc20');
  await own.chain.injectFaults(fault);
  let sweeps = 0;
  const process = new Process(app, own.merchantId, {
    at: async ({ name }) => {
      if (name !== 'after broadcast') return;
      sweeps += 1;
      await meanwhile(own);
    },
  });
  await process.finish('trc20');
  expect(sweeps).toBe(1);
  expect(await own.compare()).toEqual([EVEN, EVEN]);
  await expectLedgerWhole(service);
}

test('what moved is read again with the hot wallet, as of one block: a sweep under way hides no coins that are missing', async () => {
  await sweepUnderWay('spread_lists', async ({ chain, compare, compareWhole, steal }) => {
    const hot = await chain.hotAddress();
    for (let i = 0; i < 5; i++) expect(await compare()).toEqual([EVEN, EVEN]);
    await steal(hot, 100 * TOKEN);
    for (let i = 0; i < 3; i++) {
      const [usdt] = await compareWhole();
      const [missing] = usdt?.differences ?? [];
      expect(missing?.what).toContain(hot);
      expect([(missing?.expected ?? 0n) - (missing?.found ?? 0n), usdt?.hidden]).toEqual([
        BigInt(100 * TOKEN),
        0n,
      ]);
    }
    await steal(hot, -100 * TOKEN);
  });
});

test('where a network never shows two addresses as of one block, verify ends and says how much a sweep may hide', async () => {
  await sweepUnderWay('spread_balances', async ({ chain, verify, steal }) => {
    const hot = await chain.hotAddress();
    await steal(hot, 100 * TOKEN);
    const { differences, unseen } = await verify(chain);
    expect(differences).toEqual([]);
    expect(unseen).toEqual([expect.stringContaining('up to 100.00 USDT may be missing')]);
    await steal(hot, -100 * TOKEN);
  });
});

test('coins at an address that the nodes tell nothing usable of are no difference and no surplus, and the report says so', async () => {
  const own = await credited('spl');
  const { chain, address, compare, verify, steal } = own;
  await sendAs(own, 'a payer whose transaction nobody can read', [30]);
  await chain.mine(10);
  const mute = (unread: readonly string[]): Chain =>
    new Proxy(chain, {
      get: (target, name) => {
        if (name === 'scan') {
          const scan: Chain['scan'] = async (query) => {
            const { transfers, ...answer } = await chain.scan(query);
            const told = transfers.filter(({ to }) => to !== address);
            return { ...answer, transfers: told, ...(unread.length > 0 && { unread: new Set(unread) }) };
          };
          return scan;
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const held = BigInt(130 * TOKEN);
  const tooMuch = { currency: 'USDT', what: expect.any(String), expected: BigInt(100 * TOKEN), found: held };
  expect(await compare(mute([]))).toEqual([{ differences: [tooMuch], surplus: 0n }, EVEN]);
  expect(await compare(mute([address]))).toEqual([EVEN, EVEN]);
  const line = `${address} holds more USDT than is known of, and the nodes tell nothing usable of what came to it`;
  expect(await verify(mute([address]))).toEqual({
    differences: [],
    surpluses: [],
    unseen: [expect.stringContaining(line)],
  });
  // Missing coins are missing all the same.
  await steal(address, 31 * TOKEN);
  const left = { ...tooMuch, found: BigInt(99 * TOKEN) };
  expect(await compare(mute([address]))).toEqual([{ differences: [left], surplus: 0n }, EVEN]);
  await steal(address, -31 * TOKEN);
  expect(await compare()).toEqual([EVEN, EVEN]);
  await scanOnce(service.app, own.merchantId, 'spl');
  await expectLedgerWhole(service);
});
