import { parseEther } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Sweeper } from '../../../packages/server/src/chains/evm/artifacts.ts';
import { TOKEN_ABI } from '../../../packages/server/src/chains/evm/contracts.ts';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import type { KeyRef, Movement } from '../../../packages/server/src/chains/port/port.ts';
import {
  batchPayoutDeployment,
  collectorDeployment,
  delegateDeployment,
  sweeperDeployment,
} from '../../../packages/signer/src/contracts.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { TANK } from './key-signer.ts';
import { World } from './world.ts';

describe.skipIf(!hasAnvil())('movements of the service on an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const build = async (movement: Movement, keyRef: KeyRef, sequence = '0') =>
    await sender.buildMovement({ signing: nextSigning(), keyRef, movement, sequence });
  const allowance = async (asset: 'USDT' | 'USDC') =>
    await world.client.readContract({
      address: world.tokens[asset],
      abi: TOKEN_ABI,
      functionName: 'allowance',
      args: [world.hot, batchPayoutDeployment().address],
    });

  test('the tank deploys our contracts at their computed addresses, each once', async () => {
    const sweeper = sweeperDeployment(TANK.address).address;
    const contracts = [
      ['batch_payout', batchPayoutDeployment().address],
      ['sweeper', sweeper],
      ['collector', collectorDeployment().address],
      ['sweep_delegate', delegateDeployment(world.hot, sweeper).address],
    ] as const;
    for (const [contract, address] of contracts) {
      const movement = { kind: 'deploy', contract } as const;
      const { status, tx } = await world.move(sender, movement);
      expect(status).toMatchObject({ state: 'final', final: true, itemOk: [] });
      expect(await world.client.getCode({ address })).toMatch(/^0x[0-9a-f]{100}/);
      const receipt = await world.client.getTransactionReceipt({ hash: `0x${tx.txId.slice(2)}` });
      const limit = (await world.client.getTransaction({ hash: receipt.transactionHash })).gas;
      expect(receipt.gasUsed * 12n).toBeLessThan(limit * 11n);
      await expect(build(movement, 'tank')).rejects.toThrow(`${contract} is at ${address} already`);
    }
    const operator = await world.client.readContract({
      address: sweeper,
      abi: Sweeper.abi,
      functionName: 'operator',
    });
    expect(operator).toBe(TANK.address);
  });

  test('the tank tops the hot wallet up, and what it costs is known', async () => {
    const before = await world.client.getBalance({ address: TANK.address });
    const { tx, status } = await world.move(sender, { kind: 'gas', amount: parseEther('0.25') });
    expect(status.state).toBe('final');
    expect(await world.client.getBalance({ address: world.hot })).toBe(parseEther('0.25'));
    const spent = before - (await world.client.getBalance({ address: TANK.address }));
    expect(spent).toBe(parseEther('0.25') + (status.fee ?? 0n));
    expect(status.fee).toBeLessThanOrEqual(tx.feeLimit ?? 0n);
    expect(world.signer.requests.at(-1)).toMatchObject({
      account: 0,
      purpose: { kind: 'gas', account: 1 },
    });
  });

  test('USDT is approved by way of 0, USDC at once', async () => {
    await world.move(sender, { kind: 'gas', amount: parseEther('1') });
    for (const [amount, asset] of [
      [5_000_000n, 'USDT'],
      [0n, 'USDT'],
      [7_000_000n, 'USDT'],
      [5_000_000n, 'USDC'],
      [7_000_000n, 'USDC'],
    ] as const) {
      const { status } = await world.move(sender, { kind: 'approve', asset, amount });
      expect(status.state).toBe('final');
      expect(await allowance(asset)).toBe(amount);
    }
    await expect(build({ kind: 'approve', asset: 'USDT', amount: 8_000_000n }, 'hot')).rejects.toThrow(
      'approve 0 first',
    );
  });

  test('J3: a hole is filled, and what waited behind it goes through', async () => {
    await world.move(sender, { kind: 'gas', amount: parseEther('1') });
    const behind = await build({ kind: 'approve', asset: 'USDC', amount: 1n }, 'hot', '1');
    expect(await sender.broadcast(behind)).toEqual({ result: 'accepted' });
    await world.mine(3);
    expect(await sender.status(behind)).toEqual({ state: 'pending', final: false });
    const { status, tx } = await world.move(sender, { kind: 'fill' }, { keyRef: 'hot', sequence: '0' });
    expect(status).toMatchObject({ state: 'final', itemOk: [] });
    expect(await sender.status(behind)).toMatchObject({ state: 'final' });
    const { to, value, input } = await world.client.getTransaction({ hash: `0x${tx.txId.slice(2)}` });
    expect([to?.toLowerCase(), value, input]).toEqual([world.hot.toLowerCase(), 0n, '0x']);
  });

  test('each is sent by its own wallet, and nonsense is refused before anybody signs', async () => {
    const asked = world.signer.requests.length;
    const refused: [Movement, KeyRef, string][] = [
      [{ kind: 'gas', amount: 1n }, 'hot', 'the tank wallet sends gas, not hot'],
      [{ kind: 'gas', amount: 0n }, 'tank', 'an amount above 0'],
      [{ kind: 'approve', asset: 'USDT', amount: 1n }, 'tank', 'the hot wallet sends approve'],
      [{ kind: 'approve', asset: 'USDT', amount: -1n }, 'hot', 'out of range'],
      [{ kind: 'deploy', contract: 'sweeper' }, 'hot', 'the tank wallet sends deploy'],
      [{ kind: 'fill' }, 'deposit:3', 'deposit:3 is no hot wallet'],
    ];
    for (const [movement, keyRef, why] of refused) {
      await expect(build(movement, keyRef)).rejects.toThrow(why);
    }
    for (const sequence of ['', '-1', '01', '1e3', '9'.repeat(20)]) {
      await expect(build({ kind: 'fill' }, 'tank', sequence)).rejects.toThrow('a reserved sequence');
    }
    const bare = world.sender({ batchPayout: null });
    const movement = { kind: 'approve', asset: 'USDT', amount: 1n } as const;
    await expect(
      bare.buildMovement({ signing: nextSigning(), keyRef: 'hot', movement, sequence: '0' }),
    ).rejects.toThrow('no payout contract to approve');
    expect(world.signer.requests).toHaveLength(asked);
  });
});
