import { type Address, encodeFunctionData, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BatchPayout, TestHostileToken, type TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
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
import { groupId, payoutOutcomes, refusal } from './outcomes.ts';

const FUNDS = 10n ** 12n;
const AMOUNT = 1_230_000n;

describe.skipIf(!hasAnvil())('BatchPayout', () => {
  let node: LocalNode;
  let payout: Contract<typeof BatchPayout.abi>;
  let usdt: Contract<typeof TestUSDT.abi>;
  let usdc: Contract<typeof TestUSDC.abi>;
  /** Both, by the functions that they share. */
  let tokens: Contract<typeof TestUSDT.abi>[];
  let snapshot: `0x${string}`;
  const payer = account(1);
  const other = account(2);

  beforeAll(async () => {
    node = await LocalNode.start();
    payout = await node.deploy(BatchPayout);
    usdt = await node.deployUsdt();
    usdc = await node.deployUsdc();
    tokens = [usdt, node.at(TestUSDT, usdc.address)];
    for (const token of tokens) {
      for (const one of [payer, other]) {
        await node.mined(token.write.mint([one.address, FUNDS], by(OWNER)));
        await node.mined(token.write.approve([payout.address, FUNDS], by(one)));
      }
    }
  });
  beforeEach(async () => {
    snapshot = await node.client.snapshot();
    return () => node.client.revert({ id: snapshot });
  });
  afterAll(() => node?.stop());

  /** Each item to an address of its own. */
  const items = (indexes: readonly number[], amount = AMOUNT) =>
    indexes.map((index) => ({ index: BigInt(index), to: freshAddress(index), amount }));
  const range = (count: number) => Array.from({ length: count }, (_, index) => index);
  const group = groupId('one');

  async function pay(token: Address, list = items(range(3)), from = payer, name = group) {
    return await node.mined(payout.write.pay([token, name, list], by(from, GAS_MAX)));
  }

  test('pays every item and says so of each', async () => {
    for (const token of tokens) {
      const receipt = await pay(token.address, undefined, undefined, groupId(token.address));
      expect(payoutOutcomes(receipt)).toEqual(['0 paid', '1 paid', '2 paid']);
      expect(await token.read.balanceOf([freshAddress(1)])).toBe(AMOUNT);
      expect(await token.read.balanceOf([payer.address])).toBe(FUNDS - 3n * AMOUNT);
      expect(await payout.read.isPaid([payer.address, groupId(token.address), 2n])).toBe(true);
      expect(await payout.read.isPaid([payer.address, groupId(token.address), 3n])).toBe(false);
    }
  });

  test('says of what was paid before that it was, and pays the rest', async () => {
    await pay(usdt.address, items([1]));
    expect(payoutOutcomes(await pay(usdt.address))).toEqual(['0 paid', '1 before', '2 paid']);
    expect(payoutOutcomes(await pay(usdt.address))).toEqual(['0 before', '1 before', '2 before']);
    expect(await usdt.read.balanceOf([payer.address])).toBe(FUNDS - 3n * AMOUNT);
  });

  test('an item is its place: another recipient, amount or token does not make it another one', async () => {
    await pay(usdt.address, items([7]));
    const changed = [{ index: 7n, to: freshAddress(99), amount: 5n }];
    expect(payoutOutcomes(await pay(usdt.address, changed))).toEqual(['7 before']);
    expect(payoutOutcomes(await pay(usdc.address, changed))).toEqual(['7 before']);
    expect(await usdc.read.balanceOf([freshAddress(99)])).toBe(0n);
  });

  test('an index that is named twice is paid once', async () => {
    expect(payoutOutcomes(await pay(usdt.address, items([4, 4])))).toEqual(['4 paid', '4 before']);
    expect(await usdt.read.balanceOf([freshAddress(4)])).toBe(AMOUNT);
  });

  test('indexes may come in any order and lie far apart', async () => {
    const indexes = [511, 0, 300, 255, 256, 511, 0, 100_000];
    expect(payoutOutcomes(await pay(usdt.address, items(indexes)))).toEqual([
      '511 paid',
      '0 paid',
      '300 paid',
      '255 paid',
      '256 paid',
      '511 before',
      '0 before',
      '100000 paid',
    ]);
    expect(
      payoutOutcomes(await pay(usdt.address, items(indexes))).every((one) => one.endsWith('before')),
    ).toBe(true);
  });

  test('another sender, and another group, have bits of their own', async () => {
    await pay(usdt.address);
    expect(payoutOutcomes(await pay(usdt.address, items([0]), other))).toEqual(['0 paid']);
    expect(payoutOutcomes(await pay(usdt.address, items([0]), payer, groupId('two')))).toEqual(['0 paid']);
    expect(await usdt.read.balanceOf([freshAddress(0)])).toBe(3n * AMOUNT);
  });

  test('where the balance ends the rest fails, and the same call pays it later', async () => {
    const list = items(range(200));
    await node.mined(usdt.write.transfer([other.address, FUNDS - 150n * AMOUNT], by(payer)));
    const first = await pay(usdt.address, list);
    expect(payoutOutcomes(first).filter((one) => one.endsWith('paid'))).toHaveLength(150);
    expect(payoutOutcomes(first).filter((one) => one.endsWith('failed'))).toHaveLength(50);
    // USDT's own check would have burnt 150,000 gas for each of the 50.
    expect(first.gasUsed).toBeLessThan(5_100_000n);
    await node.mined(usdt.write.transfer([payer.address, 50n * AMOUNT], by(other)));
    const second = payoutOutcomes(await pay(usdt.address, list));
    expect(second.filter((one) => one.endsWith('before'))).toHaveLength(150);
    expect(second.filter((one) => one.endsWith('paid'))).toHaveLength(50);
    expect(await usdt.read.balanceOf([payer.address])).toBe(0n);
  });

  test('what a small item can still be paid from is paid after a large one failed', async () => {
    const list = items([0, 1, 2]).map((item) => (item.index === 1n ? { ...item, amount: FUNDS } : item));
    expect(payoutOutcomes(await pay(usdc.address, list))).toEqual(['0 paid', '1 failed', '2 paid']);
  });

  test('where the allowance ends the rest fails', async () => {
    for (const token of tokens) {
      await node.mined(token.write.approve([payout.address, 0n], by(payer)));
      await node.mined(token.write.approve([payout.address, 2n * AMOUNT], by(payer)));
      const receipt = await pay(token.address, undefined, undefined, groupId(token.address));
      expect(payoutOutcomes(receipt)).toEqual(['0 paid', '1 paid', '2 failed']);
    }
  });

  test('a payment to the sender itself leaves what it can spend', async () => {
    await node.mined(usdt.write.transfer([other.address, FUNDS - 2n * AMOUNT], by(payer)));
    const list = [{ index: 0n, to: payer.address, amount: 2n * AMOUNT }, ...items([1, 2])];
    expect(payoutOutcomes(await pay(usdt.address, list))).toEqual(['0 paid', '1 paid', '2 paid']);
  });

  test('a fee of the token is borne by the recipient, and the item is paid', async () => {
    await node.mined(usdt.write.setParams([10n, 10n], by(OWNER)));
    expect(payoutOutcomes(await pay(usdt.address, items([0])))).toEqual(['0 paid']);
    expect(await usdt.read.balanceOf([freshAddress(0)])).toBe(AMOUNT - AMOUNT / 1_000n);
    expect(await usdt.read.balanceOf([payer.address])).toBe(FUNDS - AMOUNT);
  });

  test('USDT: a listed sender pays nobody, a listed recipient is paid', async () => {
    await node.mined(usdt.write.addBlackList([freshAddress(1)], by(OWNER)));
    expect(payoutOutcomes(await pay(usdt.address))).toEqual(['0 paid', '1 paid', '2 paid']);
    await node.mined(usdt.write.addBlackList([other.address], by(OWNER)));
    expect(payoutOutcomes(await pay(usdt.address, undefined, other))).toEqual([
      '0 failed',
      '1 failed',
      '2 failed',
    ]);
  });

  test('USDC: a listed recipient fails alone; a listed sender, and a listed BatchPayout, fail all', async () => {
    await node.mined(usdc.write.blacklist([freshAddress(1)], by(OWNER)));
    expect(payoutOutcomes(await pay(usdc.address))).toEqual(['0 paid', '1 failed', '2 paid']);
    await node.mined(usdc.write.blacklist([other.address], by(OWNER)));
    expect(payoutOutcomes(await pay(usdc.address, items([3, 4]), other))).toEqual(['3 failed', '4 failed']);
    await node.mined(usdc.write.blacklist([payout.address], by(OWNER)));
    expect(payoutOutcomes(await pay(usdc.address, items([3, 4])))).toEqual(['3 failed', '4 failed']);
    expect(payoutOutcomes(await pay(usdt.address, items([3, 4])))).toEqual(['3 paid', '4 paid']);
  });

  test('while a token is paused nothing is paid, and what failed can be paid afterwards', async () => {
    for (const token of tokens) {
      const name = groupId(token.address);
      await node.mined(token.write.pause(by(OWNER)));
      const paused = payoutOutcomes(await pay(token.address, undefined, undefined, name));
      expect(paused).toEqual(['0 failed', '1 failed', '2 failed']);
      await node.mined(token.write.unpause(by(OWNER)));
      const after = payoutOutcomes(await pay(token.address, undefined, undefined, name));
      expect(after).toEqual(['0 paid', '1 paid', '2 paid']);
    }
  });

  test('the zero address fails alone where the token refuses it', async () => {
    const list = items([0, 1, 2]).map((item) => (item.index === 1n ? { ...item, to: zeroAddress } : item));
    expect(payoutOutcomes(await pay(usdc.address, list))).toEqual(['0 paid', '1 failed', '2 paid']);
  });

  test('an address without code is no token', async () => {
    for (const address of [freshAddress(5), payer.address]) {
      expect(await refusal(payout.write.pay([address, group, items([0])], by(payer)))).toBe('NoToken');
    }
    expect(await payout.read.isPaid([payer.address, group, 0n])).toBe(false);
  });

  describe('a token that misbehaves', () => {
    let hostile: Contract<typeof TestHostileToken.abi>;
    beforeEach(async () => {
      hostile = await node.deploy(TestHostileToken);
    });

    const MANNERS: [manner: number, what: string, outcome: string][] = [
      [0, 'true', 'paid'],
      [1, 'false', 'failed'],
      [2, 'the number two', 'failed'],
      [3, '31 bytes', 'failed'],
      [4, '20,000 bytes that begin with true', 'paid'],
      [5, 'nothing, and burns all its gas', 'failed'],
    ];
    for (const [manner, what, outcome] of MANNERS) {
      test(`that answers ${what}: every item is ${outcome}`, async () => {
        await node.mined(hostile.write.behave([manner], by(OWNER)));
        const receipt = await pay(hostile.address);
        expect(payoutOutcomes(receipt)).toEqual(range(3).map((index) => `${index} ${outcome}`));
        expect(receipt.gasUsed).toBeLessThan(600_000n);
      });
    }

    test('that calls back cannot pay again inside a payout', async () => {
      await node.mined(usdt.write.mint([hostile.address, FUNDS], by(OWNER)));
      await node.mined(hostile.write.behave([6], by(OWNER)));
      for (const [inner, isTaken] of [
        [
          encodeFunctionData({
            abi: BatchPayout.abi,
            functionName: 'isPaid',
            args: [payer.address, group, 0n],
          }),
          true,
        ],
        [
          encodeFunctionData({
            abi: BatchPayout.abi,
            functionName: 'pay',
            args: [usdt.address, group, items([0])],
          }),
          false,
        ],
      ] as const) {
        await node.mined(hostile.write.plan([payout.address, inner], by(OWNER)));
        await pay(hostile.address, items([isTaken ? 0 : 1]));
        expect(await hostile.read.calledBack()).toBe(isTaken);
      }
      expect(await payout.read.isPaid([hostile.address, group, 0n])).toBe(false);
    });
  });

  test('with too little gas nothing is paid, rather than an item failed', async () => {
    const list = items(range(20));
    const needed = await node.client.estimateContractGas({
      ...payout,
      functionName: 'pay',
      args: [usdt.address, group, list],
      account: payer,
    });
    for (let gas = needed - 400_000n; gas < needed; gas += 40_000n) {
      const receipt = await node.mined(payout.write.pay([usdt.address, group, list], by(payer, gas)));
      expect(receipt.status).toBe('reverted');
    }
    const short = { account: payer, gas: needed - 40_000n };
    expect(await refusal(payout.simulate.pay([usdt.address, group, list], short))).toBe('TooLittleGas');
    expect(await usdt.read.balanceOf([payer.address])).toBe(FUNDS);
    const receipt = await node.mined(payout.write.pay([usdt.address, group, list], by(payer, needed)));
    expect(payoutOutcomes(receipt).every((one) => one.endsWith('paid'))).toBe(true);
    expect(needed - receipt.gasUsed).toBeLessThan(203_000n);
  });

  test('it takes no ether', async () => {
    await expect(
      node.client.sendTransaction({ ...by(payer), to: payout.address, value: 1n }),
    ).rejects.toThrow('reverted');
  });

  describe('gas for new holders', () => {
    const BOUNDS: [token: 'USDT' | 'USDC', count: number, atMost: bigint][] = [
      ['USDT', 1, 100_000n],
      ['USDT', 200, 6_100_000n],
      ['USDT', 256, 7_800_000n],
      ['USDC', 1, 105_000n],
      ['USDC', 200, 6_400_000n],
      ['USDC', 256, 8_200_000n],
    ];
    for (const [name, count, atMost] of BOUNDS) {
      test(`${count} of ${name}: at most ${atMost}`, async () => {
        const { gasUsed, status } = await pay((name === 'USDT' ? usdt : usdc).address, items(range(count)));
        expect(status).toBe('success');
        expect(gasUsed).toBeLessThanOrEqual(atMost);
        const again = await pay((name === 'USDT' ? usdt : usdc).address, items(range(count)));
        expect(again.gasUsed).toBeLessThanOrEqual(30_000n + 2_700n * BigInt(count));
      });
    }

    test('200 that all fail stay below the limit of a transaction', async () => {
      await node.mined(usdt.write.addBlackList([payer.address], by(OWNER)));
      expect((await pay(usdt.address, items(range(200)))).gasUsed).toBeLessThan(3_000_000n);
      await node.mined(usdt.write.transfer([payer.address, FUNDS], by(other)));
      await node.mined(usdt.write.approve([payout.address, 0n], by(payer)));
      expect((await pay(usdt.address, items(range(200)))).gasUsed).toBeLessThan(3_000_000n);
    });
  });
});
