import {
  concat,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  numberToHex,
  parseSignature,
  size,
  slice,
  zeroAddress,
} from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Collector, TestUSDT, TestWallet } from '../../contracts/artifacts/index.ts';
import { account, by, freshAddress, hasAnvil, OWNER } from './local-node.ts';
import {
  CAP,
  CollectorWorld,
  DAY,
  FUNDS,
  home,
  MANDATE_TYPES,
  type Mandate,
  nameOf,
  operator,
  owner,
  payer,
  stranger,
} from './mandates.ts';
import { refusal } from './outcomes.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const PERMIT_TYPES = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

describe.skipIf(!hasAnvil())('Collector: mandates', () => {
  let world: CollectorWorld;
  let collector: CollectorWorld['collector'];
  let snapshot: `0x${string}`;
  let now: number;

  beforeAll(async () => {
    world = await CollectorWorld.start();
    collector = world.collector;
  });
  beforeEach(async () => {
    snapshot = await world.node.client.snapshot();
    now = await world.now();
    return () => world.node.client.revert({ id: snapshot });
  });
  afterAll(() => world?.node.stop());

  const mined = (sent: Promise<Hex>) => world.node.mined(sent);
  const activating = (mandate: Mandate, signature: Hex) =>
    refusal(collector.estimateGas.activate([mandate, signature], by(stranger)));
  const statusOf = async (mandate: Mandate) => {
    const id = await collector.read.mandateIdOf([mandate]);
    const [answer] = await collector.read.read([
      [{ mandate: id, token: mandate.token, payer: mandate.payer }],
    ]);
    return answer?.status;
  };

  test("a mandate's id is the digest that wallets sign", async () => {
    const message = world.mandate({ start: now, end: now + DAY, subscriptions: 7, salt: nameOf('salt') });
    const digest = hashTypedData({
      domain: world.domain(),
      types: MANDATE_TYPES,
      primaryType: 'Mandate',
      message,
    });
    expect(await collector.read.mandateIdOf([message])).toBe(digest);
  });

  test('counts once it is brought, by anybody and once', async () => {
    const mandate = world.mandate();
    expect(await statusOf(mandate)).toBe(0);
    const { logs } = await world.activate(mandate);
    const id = await collector.read.mandateIdOf([mandate]);
    expect(world.events(logs)).toMatchObject([
      { eventName: 'Activated', args: { mandate: id, payer: payer.address, account: world.account } },
    ]);
    expect(await statusOf(mandate)).toBe(1);
    expect(await activating(mandate, await world.sign(mandate))).toBe('AlreadyActive');
  });

  test("the payer's own call needs no signature", async () => {
    const mandate = world.mandate();
    await mined(collector.write.activate([mandate, '0x'], by(payer)));
    expect(await statusOf(mandate)).toBe(1);
  });

  test('a signature for anything else is refused', async () => {
    const mandate = world.mandate();
    const elsewhere = [{ chainId: 1 }, { verifyingContract: freshAddress(9) }, { name: 'Florin' }];
    for (const domain of [...elsewhere, { version: '2' }]) {
      expect(await activating(mandate, await world.sign(mandate, payer, domain))).toBe('BadSignature');
    }
    for (const who of [stranger, operator, owner]) {
      expect(await activating(mandate, await world.sign(mandate, who))).toBe('BadSignature');
    }
    const signature = await world.sign(mandate);
    const others: Partial<Mandate>[] = [
      { payer: owner.address },
      { token: world.usdc.address },
      { account: nameOf('other') },
      { cap: CAP + 1n },
      { period: DAY },
      { subscriptions: 2 },
      { start: 1 },
      { end: now + DAY },
      { salt: nameOf('other') },
    ];
    for (const changes of others) {
      expect(await activating(world.mandate(changes), signature)).toBe('BadSignature');
    }
    expect(await statusOf(mandate)).toBe(0);
  });

  test('a signature that is malleable, shortened, lengthened or empty is refused', async () => {
    const mandate = world.mandate();
    const signature = await world.sign(mandate);
    const { r, s, yParity } = parseSignature(signature);
    const twin = concat([
      r,
      numberToHex(ORDER - BigInt(s), { size: 32 }),
      numberToHex(28 - yParity, { size: 1 }),
    ]);
    const parity = concat([slice(signature, 0, 64), numberToHex(yParity, { size: 1 })]);
    const compact = concat([r, numberToHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })]);
    const broken = [
      twin,
      parity,
      compact,
      slice(signature, 0, 64),
      concat([signature, '0x00']),
      '0x',
      concat([numberToHex(0n, { size: 64 }), '0x1b']),
    ] as const;
    for (const one of broken) expect(await activating(mandate, one)).toBe('BadSignature');
    // What cannot be recovered is nobody's, not the zero address's.
    const nobody = world.mandate({ payer: zeroAddress });
    for (const one of broken) expect(await activating(nobody, one)).toBe('BadSignature');
    expect(size(signature)).toBe(65);
    await world.activate(mandate, signature);
  });

  test('a contract wallet signs by ERC-1271, and its own call counts', async () => {
    const wallet = await world.node.deploy(TestWallet, [payer.address]);
    const mandate = world.mandate({ payer: wallet.address });
    const signature = await world.sign(mandate);
    expect(await activating(mandate, await world.sign(mandate, stranger))).toBe('BadSignature');
    for (const manner of [1, 2, 4]) {
      await mined(wallet.write.behave([manner], by(OWNER)));
      expect(await activating(mandate, signature)).toBe('BadSignature');
    }
    await mined(wallet.write.behave([3], by(OWNER)));
    expect(await activating(mandate, '0x1234')).toBe('none');
    await mined(wallet.write.behave([0], by(OWNER)));
    await world.activate(mandate, signature);
    expect(await statusOf(mandate)).toBe(1);

    const second = world.mandate({ payer: wallet.address, salt: nameOf('two') });
    const data = encodeFunctionData({ abi: Collector.abi, functionName: 'activate', args: [second, '0x'] });
    await mined(wallet.write.run([collector.address, data], by(payer)));
    expect(await statusOf(second)).toBe(1);
  });

  test('the key of an account with code (EIP-7702) still signs for it', async () => {
    const code = await world.node.deploy(TestWallet, [stranger.address]);
    const authorization = await payer.signAuthorization?.({
      contractAddress: code.address,
      chainId: world.node.client.chain.id,
      nonce: await world.node.client.getTransactionCount({ address: payer.address }),
    });
    const sent = world.node.client.sendTransaction({
      ...by(stranger),
      to: payer.address,
      authorizationList: authorization === undefined ? [] : [authorization],
      gas: 200_000n,
    });
    await mined(sent);
    expect(await world.node.client.getCode({ address: payer.address })).toContain('0xef0100');
    const mandate = world.mandate();
    await world.activate(mandate);
    expect(await statusOf(mandate)).toBe(1);
  });

  describe('revoking', () => {
    test('is for good, by payer or operator, and before it was brought too', async () => {
      const [first, second, third] = ['1', '2', '3'].map((salt) => world.mandate({ salt: nameOf(salt) }));
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('three mandates');
      await world.activate(first);
      await world.activate(second);
      const { logs } = await mined(collector.write.revoke([first], by(payer)));
      const id = await collector.read.mandateIdOf([first]);
      expect(world.events(logs)).toMatchObject([
        { eventName: 'Revoked', args: { mandate: id, payer: payer.address, account: world.account } },
      ]);
      await mined(collector.write.revoke([second], by(operator)));
      await mined(collector.write.revoke([third], by(payer)));
      for (const one of [first, second, third]) {
        expect(await statusOf(one)).toBe(2);
        expect(await activating(one, await world.sign(one))).toBe('MandateRevoked');
        expect(await refusal(collector.write.activate([one, '0x'], by(payer)))).toBe('MandateRevoked');
        expect(await refusal(world.estimateCharge(one, world.chargeOf(now)))).toBe('MandateRevoked');
      }
    });

    test('is nobody else’s', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      for (const who of [stranger, owner, OWNER]) {
        expect(await refusal(collector.write.revoke([mandate], by(who)))).toBe('NotAllowed');
      }
      expect(await statusOf(mandate)).toBe(1);
    });
  });

  describe('a permit', () => {
    const permitOf = async (signer = payer) => {
      const deadline = BigInt(now + DAY);
      const value = 5n * CAP;
      const signature = await signer.signTypedData({
        domain: {
          name: 'USD Coin',
          version: '2',
          chainId: world.node.client.chain.id,
          verifyingContract: world.usdc.address,
        },
        types: PERMIT_TYPES,
        primaryType: 'Permit',
        message: {
          owner: payer.address,
          spender: collector.address,
          value,
          nonce: await world.usdc.read.nonces([payer.address]),
          deadline,
        },
      });
      const { r, s, yParity } = parseSignature(signature);
      return { value, deadline, v: 27 + yParity, r, s };
    };
    const allowance = () => world.usdc.read.allowance([payer.address, collector.address]);

    beforeEach(async () => {
      const usdc = world.node.at(TestUSDT, world.usdc.address);
      await mined(usdc.write.approve([collector.address, 0n], by(payer)));
    });

    test('gives the allowance with the mandate', async () => {
      const mandate = world.mandate({ token: world.usdc.address });
      const args = [mandate, await world.sign(mandate), await permitOf()] as const;
      const { gasUsed } = await mined(collector.write.activateWithPermit(args, by(stranger)));
      expect([await statusOf(mandate), await allowance()]).toEqual([1, 5n * CAP]);
      expect(gasUsed).toBeLessThanOrEqual(130_000n);
    });

    test('that somebody has sent before is taken as done', async () => {
      const mandate = world.mandate({ token: world.usdc.address });
      const permit = await permitOf();
      const { value, deadline, v, r, s } = permit;
      await mined(
        world.usdc.write.permit([payer.address, collector.address, value, deadline, v, r, s], by(stranger)),
      );
      const args = [mandate, await world.sign(mandate), permit] as const;
      await mined(collector.write.activateWithPermit(args, by(stranger)));
      expect([await statusOf(mandate), await allowance()]).toEqual([1, 5n * CAP]);
    });

    test('that is wrong, or of a token without permits, leaves the mandate and no allowance', async () => {
      const mandate = world.mandate({ token: world.usdc.address });
      const args = [mandate, await world.sign(mandate), await permitOf(stranger)] as const;
      await mined(collector.write.activateWithPermit(args, by(stranger)));
      expect([await statusOf(mandate), await allowance()]).toEqual([1, 0n]);
      const usdt = world.mandate();
      await mined(
        collector.write.activateWithPermit([usdt, await world.sign(usdt), await permitOf()], by(stranger)),
      );
      expect(await statusOf(usdt)).toBe(1);
      expect(await world.usdt.read.allowance([payer.address, collector.address])).toBe(FUNDS);
    });

    test('opens no way around the signature', async () => {
      const mandate = world.mandate({ token: world.usdc.address });
      const args = [mandate, await world.sign(mandate, stranger), await permitOf()] as const;
      expect(await refusal(collector.write.activateWithPermit(args, by(stranger)))).toBe('BadSignature');
      expect(await allowance()).toBe(0n);
    });
  });

  test('many mandates are read at once, with their wallets', async () => {
    const mandate = world.mandate();
    await world.activate(mandate);
    await world.charge(mandate, world.chargeOf(now, { amount: 3n }));
    const id = await collector.read.mandateIdOf([mandate]);
    const poor = account(30).address;
    const queries = [
      { mandate: id, token: world.usdt.address, payer: payer.address },
      { mandate: nameOf('none'), token: world.usdc.address, payer: poor },
    ];
    expect(await collector.read.read([queries])).toEqual([
      { status: 1, subscriptions: 1n, balance: FUNDS - 3n, allowance: FUNDS - 3n },
      { status: 0, subscriptions: 0n, balance: 0n, allowance: 0n },
    ]);
    const many = Array.from({ length: 200 }, (_, i) => queries[i % 2] ?? queries[0]).filter(
      (one) => one !== undefined,
    );
    expect(await collector.read.read([many])).toHaveLength(200);
    expect(await world.usdt.read.balanceOf([home])).toBe(3n);
  });
});
