import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  SignerUnavailable,
  type TransferSpec,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { TRX } from '../../nodes/tron-client.ts';
import { approvedGroup } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { lying, oneLying } from './lying-node.ts';

/** So many endpoints, each with one of these answers to what an account has, and to what it can lend. */
const telling = (node: TronNode, answers: readonly unknown[]): TronNode => ({
  ...lying(node, (_method, answer) => answer),
  witnessesFrom: async (block, requests) =>
    requests.some(({ method }) => /getaccountresource|getcandelegatedmaxsize/.test(method))
      ? answers.map((answer) => [answer])
      : await node.witnessesFrom(block, requests),
});

const AMOUNT = 1_500_000n;
const item = (to: string, amount = AMOUNT) => ({ itemId: 'an item', place: 0, to, amount });

describe.skipIf(!hasAnvil())('before anything is signed on Tron', () => {
  let local: TronEnvironment;
  let node: TronEndpoints;
  let recipients = 0;

  beforeAll(async () => {
    local = await TronEnvironment.start();
    node = local.endpoints();
  });
  afterAll(async () => {
    await node?.close();
    await local?.node.stop();
  });

  function specOf(change: Partial<TransferSpec>, amount: bigint, to = freshRecipient()): TransferSpec {
    const signing = nextSigning();
    const group = approvedGroup('USDT', [item(to, amount)], signing.attemptId);
    return { signing, keyRef: 'hot', ...group, ...change };
  }
  function freshRecipient(): string {
    recipients += 1;
    return local.wallet(`a recipient before signing ${recipients}`);
  }
  const transfersOf = (...items: ReturnType<typeof item>[]) =>
    ({
      kind: 'transfers',
      asset: 'USDT',
      transactions: items.map((one, i) => [{ ...one, itemId: `item ${i}` }]),
    }) as const;
  /** A merchant whose hot wallet nobody has given TRX. */
  const poor = (account: number) => local.open(node, { account, trx: 0 });

  test('a wallet without TRX is told what it needs; energy that it has is worth as much', async () => {
    const merchant = poor(41);
    const hot = await merchant.sender('hot');
    await local.give('USDT', hot, 10n * AMOUNT);
    const request = transfersOf(item(freshRecipient()), item(freshRecipient()));
    const { native, fees, tank, movementFees, reverting, refused, asOf } = await merchant.precheck(request);
    // Endpoints that agree on what a wallet holds may be a minute behind those that named the final block.
    expect(asOf).toBe((await merchant.head()).finalHeight - 20n);
    expect({ native, refused, reverting: reverting?.size }).toEqual({
      native: 0n,
      refused: null,
      reverting: 0,
    });
    expect(fees).toHaveLength(2);
    const [one = 0n, other = 0n] = fees;
    expect(one).toBeGreaterThanOrEqual(131_000n * 120n);
    expect(other).toBe(one);
    expect(tank).toEqual({
      address: await merchant.sender('tank'),
      native: tank.native,
      nextSequence: null,
    });
    expect(movementFees).toEqual({ gas: 1_510_000n, approve: 0n, deploy: 0n });
    // Energy for one and a half.
    const energy = ((one / 100n) * 3n) / 2n;
    const energies = [{ EnergyLimit: Number(energy) + 7, EnergyUsed: 7 }, { EnergyLimit: 10 ** 9 }];
    const generous = telling(node, energies);
    const rich = local.open(generous, { account: 41, trx: 0 });
    const [first = 0n, second = 0n] = (await rich.precheck(request)).fees;
    expect(first).toBeLessThan(1_000_000n);
    expect(first + second + energy * 100n).toBe(one + other);
  });

  test('one endpoint whose answers cannot be read holds no payment', async () => {
    const merchant = local.open(node, { account: 45 });
    await local.give('USDT', await merchant.sender('hot'), AMOUNT);
    await local.mine(FINAL_BLOCKS);
    const answers = [[], { EnergyLimit: '1' }, { EnergyUsed: -1 }, { EnergyLimit: 7, EnergyUsed: 7 }];
    const odd = lying(node, (method, answer) => (method === 'wallet/triggerconstantcontract' ? {} : answer));
    const unread = local.open(telling(odd, answers), { account: 45 });
    const request = transfersOf(item(freshRecipient()));
    const { fees, reverting } = await merchant.precheck(request);
    // What it takes is not known, and the most is not more than that of a recipient who never held the token.
    expect(await unread.precheck(request)).toMatchObject({ fees, reverting, refused: null });
    const { feeLimit } = await unread.buildTransfer(specOf({}, AMOUNT));
    expect(feeLimit).toBe(fees[0]);
    const none = local.open(telling(odd, [[]]), { account: 45 });
    expect((await none.precheck(request)).fees).toEqual(fees);
  });

  test('of two endpoints one alone makes no transfer cheaper, and none dearer', async () => {
    const merchant = local.open(node, { account: 46 });
    const hot = await merchant.sender('hot');
    await local.give('USDT', hot, AMOUNT);
    const keyRef = 'deposit:9';
    const sweep = { ...item(hot), itemId: 'a sweep' };
    await local.give('USDT', await merchant.sender(keyRef), AMOUNT);
    await local.mine(FINAL_BLOCKS);
    const paid = transfersOf(item(freshRecipient()));
    const swept = { kind: 'transfers', keyRef, asset: 'USDT', transactions: [[sweep]] } as const;
    const known = 131_000n * 120n;
    const [honest = 0n] = (await merchant.precheck(swept)).fees;
    expect(honest).toBeLessThan(known);
    for (const energy_used of [1, 60_000_000]) {
      const lie = (method: string, answer: unknown) =>
        method === 'wallet/triggerconstantcontract' ? { ...Object(answer), energy_used } : answer;
      const one = local.open(oneLying(node, lie), { account: 46 });
      for (const request of [paid, swept]) {
        const { fees, reverting } = await one.precheck(request);
        expect(reverting).toEqual(new Set());
        expect(fees[0]).toBeGreaterThanOrEqual(known);
        expect(fees[0]).toBeLessThan(known + 1_000_000n);
      }
      expect((await one.buildTransfer(specOf({}, AMOUNT))).feeLimit).toBeLessThan(known + 1_000_000n);
      const { feeLimit = 0n } = await one.buildTransfer(specOf({ keyRef }, AMOUNT, hot));
      expect(feeLimit).toBeGreaterThanOrEqual(known);
    }
  });

  test('what is staked is lent to a deposit address, pays its sweep, and is taken back with what was used of it', async () => {
    const merchant = local.open(node, { account: 47 });
    const [hot, tank] = [await merchant.sender('hot'), await merchant.sender('tank')];
    const keyRef = 'deposit:3';
    const address = await merchant.sender(keyRef);
    for (const to of [hot, address]) await local.give('USDT', to, AMOUNT);
    local.node.fund(tank, 1_000 * TRX);
    const request = {
      kind: 'transfers',
      keyRef,
      asset: 'USDT',
      transactions: [[{ ...item(hot), itemId: 'a sweep' }]],
    } as const;
    expect((await merchant.precheck(request)).lending).toBeUndefined();
    const STAKE = 100_000 * TRX;
    local.node.stake(tank, STAKE);
    await local.mine(FINAL_BLOCKS);
    const before = await merchant.precheck(request);
    const { fees, lending, tank: unlent } = before;
    const coins = 410_000n;
    expect(lending).toMatchObject({ to: keyRef, coins, lent: 0n, available: BigInt(STAKE), fee: 350_000n });
    expect(unlent.lent).toBeUndefined();
    // Of real numbers: 180,000,000,000 of energy a day for 19,000,000,000 TRX.
    const staked = lending?.staked ?? 0n;
    const energy = ((fees[0] ?? 0n) - coins) / 100n;
    const given = ((staked / BigInt(TRX)) * 180n) / 19n;
    expect(given).toBeGreaterThanOrEqual(energy);
    expect(given).toBeLessThan((energy * 103n) / 100n);
    expect((await merchant.precheck(transfersOf(item(freshRecipient())))).lending).toBeUndefined();

    const send = async (tx: Awaited<ReturnType<typeof merchant.buildMovement>>) => {
      expect(await merchant.broadcast(tx)).toMatchObject({ result: 'accepted' });
      await local.mine(FINAL_BLOCKS);
      const status = await merchant.status(tx);
      expect(status.state).toBe('final');
      return status;
    };
    const move = async (kind: 'lend' | 'unlend') => {
      const movement = { kind, staked, to: keyRef } as const;
      const tx = await merchant.buildMovement({ signing: nextSigning(), keyRef: 'tank', movement });
      // What it uses of bandwidth is not more than is asked for before.
      expect(tx.feeLimit).toBe(lending?.fee);
      expect((tx.raw.length - 2) / 2 + 64).toBeLessThanOrEqual(350);
      await send(tx);
    };
    local.node.fund(address, Number(coins));
    await move('lend');
    const lent = await merchant.precheck(request);
    expect(lent).toMatchObject({
      fees: [coins],
      // Of a sweep that finds the loan used up.
      dearest: fees[0],
      native: coins,
      tank: { lent: staked },
      lending: { lent: staked },
    });
    // An endpoint that is stuck before the loan is not asked what the address has.
    const stuck = { ...lying(node, (_method, answer) => answer), everywhere: async () => [{}] };
    expect(await local.open(stuck, { account: 47 }).precheck(request)).toMatchObject({ fees: [coins] });
    // What is locked is not given back by the network: nobody asks for it.
    const locked = lying(node, (method, answer) =>
      method.endsWith('getdelegatedresourcev2')
        ? {
            delegatedResource: [
              { frozen_balance_for_energy: 7, expire_time_for_energy: 4_102_444_800_000 },
              ...Object(answer).delegatedResource,
            ],
          }
        : answer,
    );
    expect(await local.open(locked, { account: 47 }).precheck(request)).toMatchObject({
      lending: { lent: staked },
    });
    const { fee } = await send(await merchant.buildTransfer(specOf({ keyRef }, AMOUNT, hot)));
    expect(fee).toBe(0n);
    await move('unlend');
    const after = await merchant.precheck({ ...request, transactions: [] });
    expect(after.tank.lent).toBeUndefined();
    expect(after.lending?.lent).toBe(0n);
    // What the sweep has used comes back within a day.
    const available = after.lending?.available ?? 0n;
    expect(available).toBeLessThan(BigInt(STAKE));
    expect(available).toBeGreaterThan(BigInt(STAKE) - staked);
    // Where endpoints do not tell, sweeps are paid with coins.
    const silent = telling(node, [[]]);
    expect((await local.open(silent, { account: 47 }).precheck(request)).lending).toBeUndefined();
  });

  test('a payment that reverts now is held by itself, unless one node alone says so; its reason is told where there is one', async () => {
    const merchant = local.open(node, { account: 42 });
    await local.give('USDT', await merchant.sender('hot'), AMOUNT);
    await local.mine(FINAL_BLOCKS);
    const request = transfersOf(item(freshRecipient()), item(freshRecipient(), AMOUNT + 1n));
    expect(await merchant.precheck(request)).toMatchObject({
      refused: null,
      reverting: new Set(['item 1']),
    });
    const tooMuch = specOf({}, AMOUNT + 1n);
    await expect(merchant.buildTransfer(tooMuch)).rejects.toMatchObject({ reason: 'reverts' });
    expect(local.signer.requests.map(({ attempt }) => attempt.attemptId)).not.toContain(
      tooMuch.signing.attemptId,
    );
    const reverting = (view: string) => (method: string, answer: unknown) =>
      method === `${view}/triggerconstantcontract`
        ? {
            ...Object(answer),
            result: { result: true, message: '5245' },
            transaction: { ret: [{ ret: 'FAILED' }] },
          }
        : answer;
    const alone = local.open(lying(node, reverting('wallet')), { account: 42 });
    const some = transfersOf(item(freshRecipient()));
    expect(await alone.precheck(some)).toMatchObject({ refused: null, reverting: new Set() });
    const hot = await merchant.sender('hot');
    await local.owner(local.token('USDT'), 'addBlackList(address)', [hot]);
    await local.mine(FINAL_BLOCKS);
    expect(await merchant.precheck(some)).toMatchObject({ refused: 'sender_blacklisted' });
    // Endpoints that are behind agree that there is nothing: they are not asked.
    const no = { result: { result: true }, constant_result: ['0'.repeat(64)] };
    const ofAnyAge = {
      ...lying(node, (_method, answer) => answer),
      agreedMany: async (requests: readonly unknown[]) => requests.map(() => no),
    };
    expect(await local.open(ofAnyAge, { account: 42 }).precheck(some)).toMatchObject({
      refused: 'sender_blacklisted',
    });
    await local.owner(local.token('USDT'), 'removeBlackList(address)', [hot]);
    await local.mine(FINAL_BLOCKS);
    expect(await merchant.precheck(some)).toMatchObject({ refused: null, reverting: new Set() });
  });

  test('TRX comes from the wallet of the installation, to a hot wallet or to a deposit address, which then sweeps itself', async () => {
    const merchant = poor(43);
    const tank = await merchant.sender('tank');
    local.node.fund(tank, 1_000 * TRX);
    const keyRef = 'deposit:7';
    const address = await merchant.sender(keyRef);
    await local.give('USDT', address, AMOUNT);
    await local.give('USDT', await merchant.sender('hot'), AMOUNT);
    await local.mine(FINAL_BLOCKS);
    const sweep = { ...item(await merchant.sender('hot')), itemId: 'a sweep' };
    const request = { kind: 'transfers', keyRef, asset: 'USDT', transactions: [[sweep]] } as const;
    const { native, fees } = await merchant.precheck(request);
    const [fee = 0n] = fees;
    expect(native).toBe(0n);
    // To a holder, of whom there is one: what an address does not use stays there.
    expect(fee).toBeLessThan(131_000n * 100n);
    const signing = nextSigning();
    const movement = { kind: 'gas', amount: fee, to: keyRef } as const;
    const topUp = await merchant.buildMovement({ signing, keyRef: 'tank', movement });
    expect(topUp).toMatchObject({ sender: tank, itemIds: [signing.attemptId], feeLimit: 1_510_000n });
    expect(await merchant.buildMovement({ signing, keyRef: 'tank', movement })).toEqual(topUp);
    expect(await merchant.broadcast(topUp)).toEqual({ result: 'accepted' });
    await local.mine(FINAL_BLOCKS);
    expect(await merchant.status(topUp)).toMatchObject({ state: 'final', final: true, itemOk: [true] });
    expect((await merchant.status(topUp)).fee).toBeLessThanOrEqual(topUp.feeLimit ?? 0n);
    expect((await merchant.precheck(request)).native).toBe(fee);
    const spec = specOf({ keyRef }, AMOUNT, sweep.to);
    const swept = await merchant.buildTransfer(spec);
    expect(await merchant.broadcast(swept)).toEqual({ result: 'accepted' });
    await local.mine(FINAL_BLOCKS);
    expect(await merchant.status(swept)).toMatchObject({ state: 'final' });
    const toHot = await merchant.buildMovement({
      signing: nextSigning(),
      keyRef: 'tank',
      movement: { kind: 'gas', amount: 5_000_000n },
    });
    expect(await merchant.broadcast(toHot)).toEqual({ result: 'accepted' });
    await local.mine(1);
    expect(await merchant.nativeBalance(await merchant.sender('hot'))).toBe(5_000_000n);
  });

  test('the limit of the signer is known, and nothing is ordered while it is not', async () => {
    const merchant = poor(44);
    const request = transfersOf();
    local.signer.topUps = { gasTopUp: 7n, gasTopUpsLeft: 11n };
    expect((await merchant.precheck(request)).tank).toMatchObject({ topUpMax: 7n, topUpsLeft: 11n });
    local.signer.topUps = undefined;
    const away = Object.assign(Object.create(local.signer) as typeof local.signer, {
      tronLimits: () => Promise.reject(new SignerUnavailable('trc20', 'away')),
    });
    expect((await local.open(node, { signer: away }).precheck(request)).tank.topUpMax).toBe(0n);
    for (const movement of [
      { kind: 'fill' },
      { kind: 'gas', amount: 0n },
      { kind: 'gas', amount: 1n, to: 'owner' },
    ] as const)
      await expect(
        merchant.buildMovement({ signing: nextSigning(), keyRef: 'tank', movement }),
      ).rejects.toThrow(UnbuildableTransfer);
  });
});
