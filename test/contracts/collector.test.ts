import { encodeFunctionData, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Collector, TestHostileToken } from '../../contracts/artifacts/index.ts';
import { account, by, freshAddress, GAS_MAX, hasAnvil, OWNER } from './local-node.ts';
import {
  CAP,
  CollectorWorld,
  DAY,
  FUNDS,
  home,
  MONTH,
  nameOf,
  operator,
  owner,
  payer,
  stranger,
} from './mandates.ts';
import { refusal } from './outcomes.ts';

const next = freshAddress(2);

describe.skipIf(!hasAnvil())('Collector: accounts and charges', () => {
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

  const homeHolds = () => world.usdt.read.balanceOf([home]);
  const mined = (sent: Promise<`0x${string}`>) => world.node.mined(sent);

  describe('an account', () => {
    test('belongs to the owner that its id names, whoever opens it', async () => {
      const [holder, charger, to] = await collector.read.accountAt([world.account]);
      expect([holder, charger, to]).toEqual([owner.address, operator.address, home]);
      for (const who of [stranger, owner]) {
        const again = collector.write.open([owner.address, operator.address, home], by(who));
        expect(await refusal(again)).toBe('AlreadyOpen');
      }
      const other = await collector.read.accountOf([stranger.address, operator.address, home]);
      expect(other).not.toBe(world.account);
    });

    test('needs all three addresses', async () => {
      const parties = [owner.address, operator.address, home] as const;
      for (const place of [0, 1, 2]) {
        const [a = zeroAddress, b = zeroAddress, c = zeroAddress] = parties.map((one, i) =>
          i === place ? zeroAddress : one,
        );
        expect(await refusal(collector.write.open([a, b, c], by(stranger)))).toBe('NoAddress');
      }
    });

    test('its owner alone changes operator and home', async () => {
      for (const who of [operator, payer, stranger, OWNER]) {
        expect(await refusal(collector.write.setOperator([world.account, who.address], by(who)))).toBe(
          'NotOwner',
        );
        expect(await refusal(collector.write.moveHome([world.account, who.address], by(who)))).toBe(
          'NotOwner',
        );
      }
      expect(
        await refusal(collector.write.setOperator([nameOf('none'), stranger.address], by(stranger))),
      ).toBe('NotOwner');
      expect(await refusal(collector.write.moveHome([world.account, zeroAddress], by(owner)))).toBe(
        'NoAddress',
      );
    });

    test('its operator changes at once, and with none nobody charges', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      await mined(collector.write.setOperator([world.account, stranger.address], by(owner)));
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('NotOperator');
      await world.charge(mandate, world.chargeOf(now), stranger);
      expect(await homeHolds()).toBe(1n);
      await mined(collector.write.setOperator([world.account, zeroAddress], by(owner)));
      for (const who of [operator, stranger, owner]) {
        expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now), who))).toBe('NotOperator');
      }
    });

    test('its home moves after two days, and charges reach the old one until then', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      await mined(collector.write.moveHome([world.account, next], by(owner)));
      await world.passTime(2 * DAY - 60);
      await world.charge(mandate, world.chargeOf(now));
      expect(await homeHolds()).toBe(1n);
      await world.passTime(60);
      await world.charge(mandate, world.chargeOf(now));
      expect([await homeHolds(), await world.usdt.read.balanceOf([next])]).toEqual([1n, 1n]);
      const [, , to] = await collector.read.accountAt([world.account]);
      expect(to).toBe(next);
    });

    test('a second move starts the two days again, and leaves a home that has moved', async () => {
      await mined(collector.write.moveHome([world.account, next], by(owner)));
      await world.passTime(DAY);
      await mined(collector.write.moveHome([world.account, freshAddress(3)], by(owner)));
      await world.passTime(DAY + 60);
      expect((await collector.read.accountAt([world.account]))[2]).toBe(home);
      await world.passTime(DAY);
      expect((await collector.read.accountAt([world.account]))[2]).toBe(freshAddress(3));
      await mined(collector.write.moveHome([world.account, next], by(owner)));
      expect((await collector.read.accountAt([world.account]))[2]).toBe(freshAddress(3));
      // Naming the present home ends the move.
      const stopped = await mined(collector.write.moveHome([world.account, freshAddress(3)], by(owner)));
      expect(stopped.status).toBe('success');
      await world.passTime(3 * DAY);
      expect((await collector.read.accountAt([world.account]))[2]).toBe(freshAddress(3));
    });
  });

  describe('a charge', () => {
    test('moves the amount from payer to home and says so', async () => {
      for (const token of world.tokens) {
        const mandate = world.mandate({ token: token.address });
        await world.activate(mandate);
        const charge = world.chargeOf(now, { amount: CAP });
        const { logs } = await world.charge(mandate, charge);
        const id = await collector.read.mandateIdOf([mandate]);
        expect(world.events(logs)).toMatchObject([
          {
            eventName: 'Charged',
            args: { account: world.account, id: charge.id, mandate: id, amount: CAP },
          },
        ]);
        expect(await token.read.balanceOf([home])).toBe(CAP);
        expect(await token.read.balanceOf([payer.address])).toBe(FUNDS - CAP);
        expect(await token.read.balanceOf([collector.address])).toBe(0n);
      }
    });

    test('counts once by its id, whatever is named with it; another account has ids of its own', async () => {
      const [mandate, second] = [world.mandate(), world.mandate({ salt: nameOf('two') })];
      await world.activate(mandate);
      await world.activate(second);
      const charge = world.chargeOf(now);
      await world.charge(mandate, charge);
      const again = [
        await world.charge(mandate, charge),
        await world.charge(mandate, { ...charge, amount: 5n, subscription: nameOf('other') }),
        await world.charge(second, charge),
      ];
      for (const { status, logs } of again) {
        expect(status).toBe('success');
        expect(world.events(logs)).toMatchObject([
          { eventName: 'ChargedBefore', args: { account: world.account, id: charge.id } },
        ]);
      }
      expect(await homeHolds()).toBe(1n);
      expect(await collector.read.isCharged([world.account, charge.id])).toBe(true);

      const parties = [stranger.address, stranger.address, next] as const;
      await mined(collector.write.open(parties, by(stranger)));
      const elsewhere = world.mandate({ account: await collector.read.accountOf(parties) });
      await world.activate(elsewhere);
      const { logs } = await world.charge(elsewhere, charge, stranger);
      expect(world.events(logs)).toMatchObject([{ eventName: 'Charged' }]);
    });

    test('that was before is told also after the payer has revoked', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      const charge = world.chargeOf(now);
      await world.charge(mandate, charge);
      await mined(collector.write.revoke([mandate], by(payer)));
      expect(world.events((await world.charge(mandate, charge)).logs)).toMatchObject([
        { eventName: 'ChargedBefore' },
      ]);
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('MandateRevoked');
    });

    test('that fails leaves its id and its window as they were', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      const charge = world.chargeOf(now, { amount: CAP });
      await mined(world.usdt.write.approve([collector.address, 0n], by(payer)));
      expect(await refusal(world.estimateCharge(mandate, charge))).toBe('InsufficientAllowance');
      expect((await world.charge(mandate, charge)).status).toBe('reverted');
      await mined(world.usdt.write.approve([collector.address, FUNDS], by(payer)));
      expect((await world.charge(mandate, charge)).status).toBe('success');
      expect(await homeHolds()).toBe(CAP);
    });

    test('is of the term that was signed', async () => {
      const mandate = world.mandate({ start: now + DAY, end: now + 3 * DAY });
      await world.activate(mandate);
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('OutsideTerm');
      await world.passTime(DAY + 60);
      await world.charge(mandate, world.chargeOf(now));
      expect(await homeHolds()).toBe(1n);
      await world.passTime(2 * DAY);
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('OutsideTerm');
    });

    test('is of a mandate that is active', async () => {
      const mandate = world.mandate();
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('MandateMissing');
      await world.activate(mandate);
      for (const changed of [{ cap: CAP + 1n }, { token: world.usdc.address }, { subscriptions: 2 }]) {
        const other = world.mandate(changed);
        expect(await refusal(world.estimateCharge(other, world.chargeOf(now)))).toBe('MandateMissing');
      }
      for (const who of [payer, owner, stranger]) {
        expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now), who))).toBe('NotOperator');
      }
    });

    test('USDT burns little where the payer has spent the coins meanwhile', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      await mined(world.usdt.write.transfer([stranger.address, FUNDS], by(payer)));
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('InsufficientBalance');
      const { status, gasUsed } = await world.charge(mandate, world.chargeOf(now));
      expect(status).toBe('reverted');
      expect(gasUsed).toBeLessThan(140_000n);
    });
  });

  describe('a token', () => {
    test('that takes a fee: the payer loses the amount, home gets the rest', async () => {
      await mined(world.usdt.write.setParams([19n, 49n], by(OWNER)));
      const mandate = world.mandate();
      await world.activate(mandate);
      await world.charge(mandate, world.chargeOf(now, { amount: 10_000n }));
      expect(await homeHolds()).toBe(9_981n);
      expect(await world.usdt.read.balanceOf([payer.address])).toBe(FUNDS - 10_000n);
    });

    test('that is paused, or lists the payer, moves nothing', async () => {
      const mandate = world.mandate();
      await world.activate(mandate);
      await mined(world.usdt.write.addBlackList([payer.address], by(OWNER)));
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('TransferFailed');
      await mined(world.usdt.write.removeBlackList([payer.address], by(OWNER)));
      await mined(world.usdt.write.pause(by(OWNER)));
      expect(await refusal(world.estimateCharge(mandate, world.chargeOf(now)))).toBe('TransferFailed');
    });

    test('that is none, or answers with anything but true, is refused', async () => {
      const hostile = await world.node.deploy(TestHostileToken);
      const [mandate, none] = [hostile.address, freshAddress(7)].map((token) => world.mandate({ token }));
      if (mandate === undefined || none === undefined) throw new Error('two mandates');
      for (const one of [mandate, none]) await world.activate(one);
      expect(await refusal(world.estimateCharge(none, world.chargeOf(now)))).toBe('NoToken');
      // False, two, 31 bytes, and all gas burned.
      for (const manner of [1, 2, 3, 5]) {
        await mined(hostile.write.behave([manner], by(OWNER)));
        expect((await world.charge(mandate, world.chargeOf(now))).status).toBe('reverted');
      }
      await mined(hostile.write.behave([0], by(OWNER)));
      expect((await world.charge(mandate, world.chargeOf(now))).status).toBe('success');
      expect(await hostile.read.received([home])).toBe(1n);
    });

    test('that calls back finds the charge counted', async () => {
      const hostile = await world.node.deploy(TestHostileToken);
      await mined(hostile.write.behave([6], by(OWNER)));
      const mandate = world.mandate({ token: hostile.address });
      await world.activate(mandate);
      const inner = world.chargeOf(now, { amount: CAP });
      const data = encodeFunctionData({ abi: Collector.abi, functionName: 'charge', args: [mandate, inner] });
      await mined(hostile.write.plan([collector.address, data], by(OWNER)));
      // The token itself is the operator, so that its call is not refused for that.
      await mined(collector.write.setOperator([world.account, hostile.address], by(owner)));
      await world.node.client.impersonateAccount({ address: hostile.address });
      await world.node.client.setBalance({ address: hostile.address, value: 10n ** 18n });
      const outer = world.chargeOf(now, { amount: CAP });
      const sent = world.node.client.sendTransaction({
        account: hostile.address,
        chain: world.node.client.chain,
        to: collector.address,
        data: encodeFunctionData({ abi: Collector.abi, functionName: 'charge', args: [mandate, outer] }),
        gas: 1_000_000n,
      });
      expect((await mined(sent)).status).toBe('success');
      expect(await hostile.read.calledBack()).toBe(false);
      expect(await hostile.read.received([home])).toBe(CAP);
    });
  });

  test('gas: at most 142,000 for the first charge, 119,000 for each later one', async () => {
    for (const token of world.tokens) {
      const mandate = world.mandate({ token: token.address });
      const activated = await world.activate(mandate);
      const used: bigint[] = [];
      for (let month = 0; month < 3; month += 1) {
        const { gasUsed, status } = await world.charge(mandate, world.chargeOf(now, { amount: 4_000_000n }));
        expect(status).toBe('success');
        used.push(gasUsed);
        now += MONTH;
        await world.passTime(MONTH);
      }
      const [first = 0n, ...later] = used;
      expect(activated.gasUsed).toBeLessThanOrEqual(60_000n);
      expect(first).toBeLessThanOrEqual(142_000n);
      for (const gas of later) expect(gas).toBeLessThanOrEqual(119_000n);
    }
  });

  test('gas: it is deployed for at most 2,000,000, an account is opened for at most 100,000', async () => {
    const parties = [stranger.address, operator.address, home] as const;
    const { gasUsed } = await mined(collector.write.open(parties, by(stranger)));
    expect(gasUsed).toBeLessThanOrEqual(100_000n);
    const hash = await world.node.client.deployContract({
      ...by(account(0), GAS_MAX),
      abi: Collector.abi,
      bytecode: Collector.bytecode,
    });
    expect((await mined(Promise.resolve(hash))).gasUsed).toBeLessThanOrEqual(2_000_000n);
  });
});
