import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasAnvil } from './local-node.ts';
import { CAP, CollectorWorld, DAY, home, type Mandate, MONTH, nameOf } from './mandates.ts';
import { refusal } from './outcomes.ts';

describe.skipIf(!hasAnvil())('Collector: the cap', () => {
  let world: CollectorWorld;
  let snapshot: `0x${string}`;
  let now: number;
  let mandate: Mandate;

  beforeAll(async () => {
    world = await CollectorWorld.start();
  });
  beforeEach(async () => {
    snapshot = await world.node.client.snapshot();
    now = await world.now();
    mandate = world.mandate();
    await world.activate(mandate);
    return () => world.node.client.revert({ id: snapshot });
  });
  afterAll(() => world?.node.stop());

  type Changes = Parameters<CollectorWorld['chargeOf']>[1];
  const refused = (start: number, changes: Changes = {}, of = mandate) =>
    refusal(world.estimateCharge(of, world.chargeOf(start, changes)));
  const charged = async (start: number, changes: Changes = {}, of = mandate) => {
    expect((await world.charge(of, world.chargeOf(start, changes))).status).toBe('success');
  };

  test('is of one subscription and window', async () => {
    await charged(now, { amount: CAP - 1n });
    expect(await refused(now, { amount: 2n })).toBe('CapExceeded');
    await charged(now, { amount: 1n });
    expect(await refused(now)).toBe('CapExceeded');
    expect(await refused(now, { amount: 2n ** 64n - 1n })).toBe('CapExceeded');
    await world.passTime(MONTH);
    await charged(now + MONTH, { amount: CAP });
    expect(await world.usdt.read.balanceOf([home])).toBe(2n * CAP);
  });

  test('counts windows that overlap together', async () => {
    await charged(now, { amount: 6_000_000n });
    for (const shift of [-DAY, -1, 1, DAY - 60]) {
      expect(await refused(now + shift, { amount: 4_000_001n })).toBe('CapExceeded');
    }
    await charged(now + 1, { amount: 4_000_000n });
    expect(await refused(now - DAY)).toBe('CapExceeded');
    const { start, end, charged: sum } = await windows();
    expect([start, end, sum]).toEqual([now, now + 1 + MONTH, CAP]);
  });

  const windows = async () =>
    world.collector.read.windowsOf([await world.collector.read.mandateIdOf([mandate]), nameOf('one')]);

  test('is not forgotten when windows move on by a second each', async () => {
    await charged(now, { amount: 5_000_000n });
    await charged(now + 1, { amount: 5_000_000n });
    // Nothing charged, so that the windows that are kept would be these.
    for (const shift of [2, 3, 4]) await charged(now + shift, { amount: 0n });
    expect(await refused(now + 5)).toBe('CapExceeded');
    expect(await refused(now)).toBe('CapExceeded');
  });

  test('of an older window still goes when a newer one has begun, for a week', async () => {
    await charged(now, { amount: 1n });
    await world.passTime(MONTH);
    await charged(now + MONTH, { amount: CAP });
    await charged(now, { amount: CAP - 1n });
    expect(await refused(now)).toBe('CapExceeded');
    expect(await refused(now + 10 * DAY)).toBe('BadWindow');
    await world.passTime(7 * DAY);
    expect(await refused(now, { amount: 0n })).toBe('BadWindow');
  });

  test('of a window that ended long ago is lost: a year of silence is not charged in a day', async () => {
    await charged(now, { amount: CAP });
    await world.passTime(12 * MONTH);
    const later = await world.now();
    let taken = 0n;
    for (let start = now + MONTH; start <= later + DAY; start += MONTH) {
      const { status } = await world.charge(mandate, world.chargeOf(start, { amount: CAP }));
      if (status === 'success') taken += CAP;
    }
    expect(taken).toBeLessThanOrEqual(2n * CAP);
  });

  test('is of windows of a period at least, which begin a day ahead at most', async () => {
    expect(await refused(now, { windowEnd: now + 28 * DAY - 1 })).toBe('BadWindow');
    await charged(now, { windowEnd: now + 28 * DAY });
    expect(await refused(now + 2 * DAY, { subscription: nameOf('one') })).toBe('BadWindow');
    expect(await refused(now + DAY + 60)).toBe('BadWindow');
    await charged(now + DAY - 60);
    for (const [start, end] of [
      [now, now],
      [now, now - 1],
      [2 ** 32 - 1, 0],
    ] as const) {
      expect(await refused(start, { windowEnd: end })).toBe('BadWindow');
    }
  });

  test('with a period of 0 is of windows that are not empty', async () => {
    const any = world.mandate({ period: 0 });
    await world.activate(any);
    expect(await refused(now, { windowEnd: now }, any)).toBe('BadWindow');
    await charged(now, { windowEnd: now + 1 }, any);
  });

  test('does not reach back before the windows that are kept', async () => {
    const daily = world.mandate({ period: DAY });
    await world.activate(daily);
    const day = (start: number) => ({ windowEnd: start + DAY, amount: CAP });
    for (const n of [0, 1, 2, 3]) {
      await charged(now + n * DAY, day(now + n * DAY), daily);
      await world.passTime(DAY);
    }
    for (const n of [0, 1, 1.5]) {
      const start = now + n * DAY;
      expect(await refused(start, { windowEnd: start + DAY, amount: 0n }, daily)).toBe('BadWindow');
    }
    expect(await refused(now + 2 * DAY, { windowEnd: now + 3 * DAY }, daily)).toBe('CapExceeded');
  });

  test('is of as many subscriptions as the payer signed for', async () => {
    const two = world.mandate({ subscriptions: 2 });
    await world.activate(two);
    await charged(now, { subscription: nameOf('a'), amount: CAP }, two);
    await charged(now, { subscription: nameOf('b'), amount: CAP }, two);
    expect(await refused(now, { subscription: nameOf('c'), amount: 0n }, two)).toBe('TooManySubscriptions');
    await world.passTime(MONTH);
    await charged(now + MONTH, { subscription: nameOf('a') }, two);
    const none = world.mandate({ subscriptions: 0 });
    await world.activate(none);
    expect(await refused(now, {}, none)).toBe('TooManySubscriptions');
  });
});
