import { type Hex, parseSignature } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SweepDelegate, type TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import { account, by, type Contract, freshAddress, hasAnvil, LocalNode, OWNER } from './local-node.ts';
import { refusal } from './outcomes.ts';

const holder = account(1);
const spender = account(2);
const to = freshAddress(1);

describe.skipIf(!hasAnvil())('test tokens behave as the real ones', () => {
  let node: LocalNode;
  let usdt: Contract<typeof TestUSDT.abi>;
  let usdc: Contract<typeof TestUSDC.abi>;
  let snapshot: Hex;

  beforeAll(async () => {
    node = await LocalNode.start();
    usdt = await node.deployUsdt();
    usdc = await node.deployUsdc();
    for (const token of [usdt, node.at(TestUSDT, usdc.address)]) {
      await node.mined(token.write.mint([holder.address, 1_000_000n], by(OWNER)));
    }
  });
  beforeEach(async () => {
    snapshot = await node.client.snapshot();
    return () => node.client.revert({ id: snapshot });
  });
  afterAll(() => node?.stop());

  describe('USDT', () => {
    test('approve goes through zero', async () => {
      await node.mined(usdt.write.approve([to, 5n], by(holder)));
      expect(await refusal(usdt.write.approve([to, 6n], by(holder)))).not.toBe('none');
      await node.mined(usdt.write.approve([to, 0n], by(holder)));
      await node.mined(usdt.write.approve([to, 6n], by(holder)));
    });

    test('its functions return nothing', async () => {
      const call = { account: holder.address, to: usdt.address } as const;
      // transfer(to, 1)
      const data: Hex = `0xa9059cbb${to.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
      expect((await node.client.call({ ...call, data })).data).toBeUndefined();
    });

    test('more than the balance burns all gas', async () => {
      const { status, gasUsed } = await node.mined(
        usdt.write.transfer([to, 1_000_001n], by(holder, 300_000n)),
      );
      expect([status, gasUsed]).toEqual(['reverted', 300_000n]);
    });

    test('a fee is taken from what arrives, up to its most', async () => {
      await node.mined(usdt.write.setParams([10n, 0n], by(OWNER)));
      await node.mined(usdt.write.transfer([to, 1_000n], by(holder)));
      expect(await usdt.read.balanceOf([to])).toBe(1_000n);
      await node.mined(usdt.write.setParams([10n, 1n], by(OWNER)));
      await node.mined(usdt.write.transfer([to, 100_000n], by(holder)));
      expect(await usdt.read.balanceOf([to])).toBe(100_900n);
      expect(await usdt.read.balanceOf([OWNER.address])).toBe(100n);
    });

    test('what a listed address holds may be destroyed', async () => {
      await node.mined(usdt.write.addBlackList([holder.address], by(OWNER)));
      expect(await refusal(usdt.write.transfer([to, 1n], by(holder)))).not.toBe('none');
      await node.mined(usdt.write.destroyBlackFunds([holder.address], by(OWNER)));
      expect(await usdt.read.balanceOf([holder.address])).toBe(0n);
    });
  });

  describe('USDC', () => {
    const deadline = 2n ** 40n;
    const domain = () => ({
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: usdc.address,
    });
    const words = (...names: string[]) =>
      names.map((one) => {
        const [type = '', name = ''] = one.split(' ');
        return { name, type };
      });

    const signPermit = async (version = '2') =>
      await holder.signTypedData({
        domain: { ...domain(), version },
        types: {
          Permit: words(
            'address owner',
            'address spender',
            'uint256 value',
            'uint256 nonce',
            'uint256 deadline',
          ),
        },
        primaryType: 'Permit',
        message: { owner: holder.address, spender: spender.address, value: 7n, nonce: 0n, deadline },
      });

    async function permit(signature: Hex) {
      const { r, s, yParity } = parseSignature(signature);
      const args = [holder.address, spender.address, 7n, deadline, 27 + yParity, r, s] as const;
      return await usdc.write.permit(args, by(spender));
    }

    test('permit sets the allowance once, under version 2 alone', async () => {
      expect(await refusal(permit(await signPermit('1')))).toBe('EIP2612: invalid signature');
      const signature = await signPermit();
      await node.mined(permit(signature));
      expect(await usdc.read.allowance([holder.address, spender.address])).toBe(7n);
      expect(await refusal(permit(signature))).toBe('EIP2612: invalid signature');
    });

    test('an address that has delegated cannot sign a permit any more', async () => {
      const delegate = await node.deploy(SweepDelegate, [to, spender.address]);
      const authorization = await node.client.signAuthorization({
        account: holder,
        contractAddress: delegate.address,
        nonce: 0,
      });
      await node.mined(
        node.client.sendTransaction({ ...by(OWNER, 100_000n), to, authorizationList: [authorization] }),
      );
      expect(await refusal(permit(await signPermit()))).toBe('EIP2612: invalid signature');
    });

    test('a transfer by signature moves once, within its times', async () => {
      const nonce: Hex = `0x${'ab'.repeat(32)}`;
      const message = { from: holder.address, to, value: 9n, validAfter: 0n, validBefore: deadline, nonce };
      const types = words('address from', 'address to', 'uint256 value', 'uint256 validAfter');
      const signature = await holder.signTypedData({
        domain: domain(),
        types: { TransferWithAuthorization: [...types, ...words('uint256 validBefore', 'bytes32 nonce')] },
        primaryType: 'TransferWithAuthorization',
        message,
      });
      const send = (value: bigint) =>
        usdc.write.transferWithAuthorization(
          [holder.address, to, value, 0n, deadline, nonce, signature],
          by(spender),
        );
      expect(await refusal(send(10n))).toBe('FiatTokenV2: invalid signature');
      await node.mined(send(9n));
      expect(await usdc.read.balanceOf([to])).toBe(9n);
      expect(await refusal(send(9n))).toBe('FiatTokenV2: authorization is used or canceled');
    });

    test('pause and blacklist stop transfers and approvals, with the real words', async () => {
      await node.mined(usdc.write.blacklist([to], by(OWNER)));
      const listed = 'Blacklistable: account is blacklisted';
      expect(await refusal(usdc.write.transfer([to, 1n], by(holder)))).toBe(listed);
      expect(await refusal(usdc.write.approve([to, 1n], by(holder)))).toBe(listed);
      await node.mined(usdc.write.pause(by(OWNER)));
      expect(await refusal(usdc.write.transfer([spender.address, 1n], by(holder)))).toBe('Pausable: paused');
      await node.mined(usdc.write.unpause(by(OWNER)));
      const over = refusal(usdc.write.transfer([spender.address, 1_000_001n], by(holder)));
      expect(await over).toBe('ERC20: transfer amount exceeds balance');
    });

    test("the proxy's admin cannot use the token", async () => {
      const admin = by(account(9));
      expect(await refusal(usdc.write.transfer([to, 0n], admin))).toContain('proxy admin');
    });
  });
});
