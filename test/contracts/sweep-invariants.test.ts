import fc from 'fast-check';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SweepDelegate, Sweeper, TestUSDT } from '../../contracts/artifacts/index.ts';
import { account, by, type Contract, freshAddress, hasAnvil, LocalNode, OWNER } from './local-node.ts';
import { sweepOutcomes } from './outcomes.ts';

const DEPOSITED = 1_000n;
const OPERATOR = account(1);
/** The operator, somebody else, and a home itself. */
const CALLERS = [OPERATOR, account(2), account(3)];
/** Two merchants with two deposit addresses each; the fifth address has not delegated. */
const HOMES = [account(3).address, freshAddress(1)];
const DEPOSITS = Array.from({ length: 5 }, (_, index) => account(600 + index));

interface Call {
  caller: number;
  /** Past the Sweeper, at the address itself. */
  direct: boolean;
  sweeps: { from: number; token: number; amount: number }[];
}

const call: fc.Arbitrary<Call> = fc.record({
  caller: fc.nat({ max: CALLERS.length - 1 }),
  direct: fc.boolean(),
  sweeps: fc.array(
    fc.record({
      from: fc.nat({ max: DEPOSITS.length - 1 }),
      token: fc.nat({ max: 2 }),
      amount: fc.constantFrom(0, 1, 400, 1_000, 1_001),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

describe.skipIf(!hasAnvil())('sweeps under random calls', () => {
  let node: LocalNode;
  let sweeper: Contract<typeof Sweeper.abi>;
  let tokens: Contract<typeof TestUSDT.abi>[];

  beforeAll(async () => {
    node = await LocalNode.start();
    tokens = [await node.deployUsdt(), node.at(TestUSDT, (await node.deployUsdc()).address)];
    sweeper = await node.deploy(Sweeper, [OPERATOR.address]);
    for (const token of tokens) {
      for (const { address } of DEPOSITS) await node.mined(token.write.mint([address, DEPOSITED], by(OWNER)));
    }
    for (const [merchant, home] of HOMES.entries()) {
      const { address } = await node.deploy(SweepDelegate, [home, sweeper.address]);
      const authorizationList = await Promise.all(
        DEPOSITS.slice(2 * merchant, 2 * merchant + 2).map((one) =>
          node.client.signAuthorization({ account: one, contractAddress: address, nonce: 0 }),
        ),
      );
      const delegation = { ...by(OWNER, 300_000n), to: freshAddress(9), authorizationList };
      await node.mined(node.client.sendTransaction(delegation));
    }
  });
  afterAll(() => node?.stop());

  async function balances(): Promise<Map<string, bigint>> {
    const holders = [...DEPOSITS, ...CALLERS].map(({ address }) => address).concat(HOMES, sweeper.address);
    const entries = tokens.flatMap((token, place) =>
      [...new Set(holders)].map(
        async (holder): Promise<[string, bigint]> => [
          `${place} ${holder}`,
          await token.read.balanceOf([holder]),
        ],
      ),
    );
    return new Map(await Promise.all(entries));
  }

  async function checkCall({ caller, direct, sweeps }: Call) {
    const expected = await balances();
    const who = CALLERS[caller] ?? OPERATOR;
    const full = sweeps.map(({ from, token, amount }) => ({
      from: DEPOSITS[from]?.address ?? freshAddress(8),
      token: tokens[token]?.address ?? freshAddress(7),
      amount: BigInt(amount),
    }));
    const [first] = full;
    const data: Hex =
      direct && first !== undefined
        ? encodeFunctionData({
            abi: SweepDelegate.abi,
            functionName: 'sweep',
            args: [first.token, first.amount],
          })
        : encodeFunctionData({ abi: Sweeper.abi, functionName: 'sweep', args: [full] });
    const to = direct && first !== undefined ? first.from : sweeper.address;
    const receipt = await node.mined(node.client.sendTransaction({ ...by(who, 3_000_000n), to, data }));

    // Nothing moves but by the operator through the Sweeper; then exactly what was asked, to the merchant's own home.
    const outcomes = sweepOutcomes(receipt);
    if (!direct && who === OPERATOR) {
      expect(outcomes).toHaveLength(sweeps.length);
      for (const [place, { from, token, amount }] of sweeps.entries()) {
        const home = `${token} ${HOMES[Math.floor(from / 2)]}`;
        const source = `${token} ${DEPOSITS[from]?.address}`;
        const held = expected.get(source) ?? -1n;
        expect(outcomes[place]).toBe(from < 4 && token < 2 && BigInt(amount) <= held);
        if (outcomes[place] !== true) continue;
        expected.set(source, held - BigInt(amount));
        expected.set(home, (expected.get(home) ?? 0n) + BigInt(amount));
      }
    } else expect(outcomes).toEqual([]);
    expect(await balances()).toEqual(expected);
  }

  test('coins move to the home of their own address alone, exactly as requested, by the operator alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 8 }), async (calls) => {
        const snapshot = await node.client.snapshot();
        try {
          for (const one of calls) await checkCall(one);
        } finally {
          await node.client.revert({ id: snapshot });
        }
      }),
      { numRuns: 20, endOnFailure: true },
    );
  }, 180_000);
});
