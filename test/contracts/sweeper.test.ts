import { type Address, encodeFunctionData, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  SweepDelegate,
  Sweeper,
  TestHostileToken,
  type TestUSDC,
  TestUSDT,
} from '../../contracts/artifacts/index.ts';
import {
  account,
  by,
  type Contract,
  freshAddress,
  GAS_MAX,
  hasAnvil,
  LocalNode,
  OWNER,
} from './local-node.ts';
import { refusal, sweepOutcomes } from './outcomes.ts';

const DEPOSITED = 5_000_000n;
const SWEPT = 4_000_000n;

describe.skipIf(!hasAnvil())('Sweeper and SweepDelegate', () => {
  let node: LocalNode;
  let usdt: Contract<typeof TestUSDT.abi>;
  let usdc: Contract<typeof TestUSDC.abi>;
  let sweeper: Contract<typeof Sweeper.abi>;
  let delegate: Contract<typeof SweepDelegate.abi>;
  let tokens: Contract<typeof TestUSDT.abi>[];
  let snapshot: `0x${string}`;
  const operator = account(1);
  const stranger = account(2);
  const home = account(3).address;
  /** Keys that have no ether and have sent nothing. */
  const deposits = Array.from({ length: 8 }, (_, index) => account(500 + index));
  const [first, second, third] = deposits;
  if (first === undefined || second === undefined || third === undefined) throw new Error('no deposits');

  beforeAll(async () => {
    node = await LocalNode.start();
    usdt = await node.deployUsdt();
    usdc = await node.deployUsdc();
    tokens = [usdt, node.at(TestUSDT, usdc.address)];
    sweeper = await node.deploy(Sweeper, [operator.address]);
    delegate = await node.deploy(SweepDelegate, [home, sweeper.address]);
    for (const token of tokens) {
      await node.mined(token.write.mint([home, 1n], by(OWNER)));
      for (const { address } of deposits) await node.mined(token.write.mint([address, DEPOSITED], by(OWNER)));
    }
  });
  beforeEach(async () => {
    snapshot = await node.client.snapshot();
    return () => node.client.revert({ id: snapshot });
  });
  afterAll(() => node?.stop());

  const sweepsOf = (token: Address, amount = SWEPT, of = deposits) =>
    of.map(({ address }) => ({ from: address, token, amount }));

  /** The operator's transaction; with `delegating`, those addresses delegate in the same one. */
  async function sweep(sweeps: ReturnType<typeof sweepsOf>, delegating = deposits, code = delegate.address) {
    const authorizationList = await Promise.all(
      delegating.map((one) =>
        node.client.signAuthorization({ account: one, contractAddress: code, nonce: 0 }),
      ),
    );
    const data = encodeFunctionData({ abi: Sweeper.abi, functionName: 'sweep', args: [sweeps] });
    const transaction = { ...by(operator, 4_000_000n), to: sweeper.address, data };
    return await node.mined(
      node.client.sendTransaction(
        delegating.length === 0 ? transaction : { ...transaction, authorizationList },
      ),
    );
  }

  test('moves exact amounts home, by addresses that have no ether', async () => {
    for (const [index, token] of tokens.entries()) {
      const receipt = await sweep(sweepsOf(token.address), index === 0 ? deposits : []);
      expect(sweepOutcomes(receipt)).toEqual(deposits.map(() => true));
      expect(await token.read.balanceOf([home])).toBe(1n + 8n * SWEPT);
      for (const { address } of deposits) {
        expect(await token.read.balanceOf([address])).toBe(DEPOSITED - SWEPT);
        expect(await node.client.getBalance({ address })).toBe(0n);
      }
    }
  });

  test('an address that fails does so alone', async () => {
    await node.mined(usdt.write.addBlackList([second.address], by(OWNER)));
    const sweeps = sweepsOf(usdt.address).map((one, index) =>
      index === 3 ? { ...one, amount: DEPOSITED + 1n } : one,
    );
    const outcomes = sweepOutcomes(await sweep(sweeps));
    expect(outcomes).toEqual([true, false, true, false, true, true, true, true]);
    expect(await usdt.read.balanceOf([second.address])).toBe(DEPOSITED);
    expect(await usdt.read.balanceOf([home])).toBe(1n + 6n * SWEPT);
  });

  test('an address that has not delegated, or to other code, fails alone', async () => {
    const other = await node.deploy(TestHostileToken);
    await sweep([], [first], other.address);
    const outcomes = sweepOutcomes(await sweep(sweepsOf(usdt.address), deposits.slice(2)));
    expect(outcomes).toEqual([false, false, true, true, true, true, true, true]);
    expect(await usdt.read.balanceOf([second.address])).toBe(DEPOSITED);
  });

  test('an authorization that is out of date stops its own address alone', async () => {
    await node.client.setBalance({ address: first.address, value: 10n ** 18n });
    await node.mined(usdt.write.transfer([stranger.address, 1n], by(first)));
    const outcomes = sweepOutcomes(await sweep(sweepsOf(usdt.address)));
    expect(outcomes).toEqual([false, true, true, true, true, true, true, true]);
  });

  test('USDC: a listed address fails alone; a paused token, a listed home fail all', async () => {
    await node.mined(usdc.write.blacklist([third.address], by(OWNER)));
    const outcomes = sweepOutcomes(await sweep(sweepsOf(usdc.address)));
    expect(outcomes).toEqual([true, true, false, true, true, true, true, true]);
    await node.mined(usdc.write.pause(by(OWNER)));
    expect(sweepOutcomes(await sweep(sweepsOf(usdc.address, 1n), []))).toEqual(deposits.map(() => false));
    await node.mined(usdc.write.unpause(by(OWNER)));
    await node.mined(usdc.write.blacklist([home], by(OWNER)));
    expect(sweepOutcomes(await sweep(sweepsOf(usdc.address, 1n), []))).toEqual(deposits.map(() => false));
  });

  test('what is no token fails alone', async () => {
    const sweeps = [...sweepsOf(freshAddress(1), 1n, [first]), ...sweepsOf(usdt.address, 1n, [second])];
    expect(sweepOutcomes(await sweep(sweeps))).toEqual([false, true]);
  });

  test('a token that burns all its gas fails alone', async () => {
    const hostile = await node.deploy(TestHostileToken);
    await node.mined(hostile.write.behave([5], by(OWNER)));
    const sweeps = deposits.flatMap((one) => [
      ...sweepsOf(hostile.address, 1n, [one]),
      ...sweepsOf(usdt.address, 1n, [one]),
    ]);
    expect(sweepOutcomes(await sweep(sweeps))).toEqual(deposits.flatMap(() => [false, true]));
  });

  test('the operator alone may sweep, and the sweeper alone may call an address', async () => {
    await sweep([]);
    const sweeps = sweepsOf(usdt.address, 1n);
    for (const who of [stranger, OWNER]) {
      expect(await refusal(sweeper.write.sweep([sweeps], by(who)))).toBe('NotOperator');
    }
    for (const who of [stranger, operator, OWNER, account(3)]) {
      const address = node.at(SweepDelegate, first.address);
      expect(await refusal(address.write.sweep([usdt.address, 1n], by(who)))).toBe('NotSweeper');
    }
    expect(await usdt.read.balanceOf([first.address])).toBe(DEPOSITED);
  });

  test('home and sweeper are in the code: an address reports those of its delegate', async () => {
    await sweep([]);
    const address = node.at(SweepDelegate, first.address);
    expect(await address.read.home()).toBe(home);
    expect(await address.read.sweeper()).toBe(sweeper.address);
    expect(await sweeper.read.operator()).toBe(operator.address);
    await expect(node.deploy(SweepDelegate, [zeroAddress, sweeper.address])).rejects.toThrow('reverted');
    await expect(node.deploy(Sweeper, [zeroAddress])).rejects.toThrow('reverted');
  });

  test('a delegated address still takes ether, and its key still sends', async () => {
    await sweep([]);
    await node.mined(node.client.sendTransaction({ ...by(stranger), to: first.address, value: 10n ** 17n }));
    expect(await node.client.getBalance({ address: first.address })).toBe(10n ** 17n);
    await node.mined(usdt.write.transfer([stranger.address, 1n], by(first)));
    expect(await usdt.read.balanceOf([stranger.address])).toBe(1n);
  });

  test('with too little gas nothing is swept, rather than an address failed', async () => {
    await sweep([]);
    for (let gas = 120_000n; gas <= 260_000n; gas += 20_000n) {
      const sweeps = sweepsOf(usdt.address);
      const { status } = await node.mined(sweeper.write.sweep([sweeps], by(operator, gas)));
      expect(status).toBe('reverted');
    }
    expect(await usdt.read.balanceOf([home])).toBe(1n);
  });

  test('gas: at most 37,000 for each of eight that delegate, 24,000 for each that did before', async () => {
    for (const token of tokens) {
      const all = await sweep(sweepsOf(token.address));
      expect(sweepOutcomes(all)).toEqual(deposits.map(() => true));
      expect(all.gasUsed / 8n).toBeLessThanOrEqual(37_000n);
      const again = await sweep(sweepsOf(token.address, 1n), []);
      expect(again.gasUsed / 8n).toBeLessThanOrEqual(24_000n);
      await node.client.revert({ id: snapshot });
      snapshot = await node.client.snapshot();
    }
  });

  test('gas: a merchant costs one contract of at most 260,000', async () => {
    const hash = await node.client.deployContract({
      ...by(OWNER, GAS_MAX),
      abi: SweepDelegate.abi,
      bytecode: SweepDelegate.bytecode,
      args: [home, sweeper.address],
    });
    expect((await node.mined(Promise.resolve(hash))).gasUsed).toBeLessThanOrEqual(260_000n);
  });
});
