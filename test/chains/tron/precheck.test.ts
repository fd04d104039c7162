import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  SignerUnavailable,
  type TransferSpec,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { TRX } from '../../nodes/tron-stage.ts';
import { approvedGroup } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { lying } from './lying-node.ts';

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
    const generous = { ...lying(node, (_method, answer) => answer), everywhere: async () => energies };
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
    const unread = local.open({ ...odd, everywhere: async () => answers }, { account: 45 });
    const request = transfersOf(item(freshRecipient()));
    const { fees, reverting } = await merchant.precheck(request);
    // What it takes is not known, and the most is not more than that of a recipient who never held the token.
    expect(await unread.precheck(request)).toMatchObject({ fees, reverting, refused: null });
    const { feeLimit } = await unread.buildTransfer(specOf({}, AMOUNT));
    expect(feeLimit).toBe(fees[0]);
    const none = local.open({ ...odd, everywhere: async () => [[]] }, { account: 45 });
    expect((await none.precheck(request)).fees).toEqual(fees);
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
