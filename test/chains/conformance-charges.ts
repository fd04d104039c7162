import { describe, expect, test } from 'vitest';
import {
  ChainUnavailable,
  type ChargeSpec,
  type Mandate,
  UnbuildableTransfer,
} from '../../packages/server/src/chains/port/port.ts';
import {
  ALLOWANCE,
  AMOUNT,
  ASSET,
  BALANCE,
  CAP,
  Collector,
  DAY,
  madeSoFar,
  refused,
  taken,
  WINDOW,
} from './conformance-collector.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { approvedGroup, uuidOf } from './conformance-groups.ts';
import { nextSigning } from './next-signing.ts';

export function describeCharges(get: () => ChainEnvironment): void {
  describe('mandates and charges', () => {
    describeMandates(() => new Collector(get()));
    describeCharging(() => new Collector(get()));
    describeCounting(() => new Collector(get()));
    describeRefusals(() => new Collector(get()));
    describeTrouble(() => new Collector(get()));
    describeReplacing(() => new Collector(get()));
  });
}

function describeMandates(open: () => Collector): void {
  test('a mandate is active once the payer’s transactions are final', async () => {
    const collector = open();
    const payer = await collector.meet();
    const { chain } = collector.environment;
    expect(payer.mandate).toMatchObject({ payer: payer.wallet.owner, recipient: await chain.sender('hot') });
    expect(payer.setup.steps[0]).toMatchObject({ kind: 'approve', spender: payer.setup.spender });
    await collector.finalize();
    const nothing = { state: 'missing', balance: BALANCE, allowance: 0n };
    expect(await collector.stateOf(payer)).toEqual(nothing);
    await collector.environment.authorize(payer.setup);
    expect(await collector.stateOf(payer)).toEqual(nothing);
    await collector.finalize();
    expect(await collector.stateOf(payer)).toEqual({
      state: 'active',
      balance: BALANCE,
      allowance: ALLOWANCE,
    });
  });

  test('its id is derived from all of its terms', async () => {
    const collector = open();
    const { chain } = collector.environment;
    const { mandate } = await collector.meet();
    const { mandateId, recipient: _, ...terms } = mandate;
    const others: Partial<Mandate>[] = [
      { cap: CAP + 1n },
      { salt: 'another' },
      { period: 'day' },
      { endsAt: terms.startsAt + 1 },
      { subscriptions: 3 },
      { payer: collector.environment.signingPayer(0) },
    ];
    const setups = [{}, ...others].map((other) =>
      chain.mandateSetup({ ...terms, ...other, allowance: ALLOWANCE }),
    );
    const ids = (await Promise.all(setups)).map((setup) => setup.mandate.mandateId);
    expect(ids[0]).toBe(mandateId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('an approval is a signature where the token takes one, and a transaction elsewhere; both do the same', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain } = environment;
    if (chain.network !== 'erc20') return;
    for (const [asset, kind] of [
      ['USDC', 'permit'],
      ['USDT', 'approve'],
    ] as const) {
      const { mandate } = await collector.meet({ asset });
      const { mandateId, recipient: _, ...terms } = mandate;
      await environment.hold({ owner: mandate.payer, asset }, 5n);
      const permitUntil = terms.startsAt + 86_400;
      const setup = await chain.mandateSetup({ ...terms, allowance: ALLOWANCE, permitUntil });
      expect(setup.mandate.mandateId).toBe(mandateId);
      expect(setup.steps[0]).toMatchObject({ kind, asset, spender: setup.spender, amount: ALLOWANCE });
      if (kind === 'permit') expect(setup.steps[0]).toMatchObject({ nonce: 0n, deadline: permitUntil });
      await environment.authorize(setup);
      await collector.finalize();
      const { states } = await chain.mandateStates([mandate]);
      expect(states).toEqual([{ state: 'active', balance: 5n, allowance: ALLOWANCE }]);
    }
  });

  test('many mandates are read at once, each with its own state', async () => {
    const collector = open();
    const [rich, poor, absent] = [await collector.join(), await collector.join(), await collector.meet()];
    await collector.environment.hold(poor.wallet, 1n);
    await collector.finalize();
    const list = [rich, poor, absent, rich].map(({ mandate }) => mandate);
    const { states } = await collector.environment.chain.mandateStates(list);
    expect(states.map((one) => one?.state)).toEqual(['active', 'active', 'missing', 'active']);
    expect(states.map((one) => one?.balance)).toEqual([BALANCE, 1n, BALANCE, BALANCE]);
  });

  test('a payer revokes it; where a token has one delegate, another approval ends it too', async () => {
    const collector = open();
    const [revoking, other] = [await collector.join(), await collector.join()];
    await collector.environment.revoke(revoking.mandate);
    await collector.environment.approve(other.wallet, 7n, collector.environment.recipient(1));
    await collector.finalize();
    const hasOneDelegate = collector.environment.chain.network === 'spl';
    expect(await collector.stateOf(revoking)).toMatchObject({
      state: hasOneDelegate ? 'missing' : 'revoked',
    });
    const shown = hasOneDelegate
      ? { state: 'missing', allowance: 0n }
      : { state: 'active', allowance: ALLOWANCE };
    expect(await collector.stateOf(other)).toMatchObject(shown);
    const status = await collector.settle(other);
    expect(status).toMatchObject(hasOneDelegate ? refused('insufficient_allowance') : taken);
  });

  test('J1: a second mandate of a wallet leaves the first one what it was allowed', async () => {
    const collector = open();
    const { environment } = collector;
    const first = await collector.join();
    expect(await collector.settle(first)).toMatchObject(taken);
    const { mandateId: _, recipient: __, ...terms } = first.mandate;
    const setup = await environment.chain.mandateSetup({ ...terms, salt: 'second', allowance: CAP });
    const hasOneDelegate = environment.chain.network === 'spl';
    const amount = hasOneDelegate ? ALLOWANCE - AMOUNT + CAP : CAP;
    expect(setup.steps[0]).toMatchObject({ kind: 'approve', amount });
    await environment.authorize(setup);
    await collector.finalize();
    expect(await collector.stateOf(first)).toMatchObject({ state: 'active', allowance: amount });
    const second = { ...first, mandate: setup.mandate };
    for (const payer of [first, second]) expect(await collector.settle(payer)).toMatchObject(taken);
  });
}

function describeCharging(open: () => Collector): void {
  test('J1: a charge goes unknown, pending, included, final; the same bytes are known and pull once', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain, finalBlocks } = environment;
    const payer = await collector.join();
    const { recipient } = payer.mandate;
    const before = await chain.balance(recipient, ASSET, 'tip');
    const tx = await collector.build(payer);
    expect(tx.itemIds).toHaveLength(1);
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
    expect(await chain.status(tx)).toEqual({ state: 'pending', final: false });
    await environment.mine(1);
    expect(await chain.status(tx)).toMatchObject({ state: 'included', final: false, itemOk: [true] });
    expect(await collector.stateOf(payer)).toMatchObject({ balance: BALANCE, allowance: ALLOWANCE });
    await environment.mine(finalBlocks - 1);
    expect(await chain.status(tx)).toMatchObject(taken);
    expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
    await environment.mine(1);
    expect(await collector.stateOf(payer)).toEqual({
      state: 'active',
      balance: BALANCE - AMOUNT,
      allowance: ALLOWANCE - AMOUNT,
    });
    expect(await chain.balance(recipient, ASSET, 'tip')).toBe(before + AMOUNT);
  });

  test('charged coins are in our wallet and can be paid out', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain, keyRef } = environment;
    const payer = await collector.join();
    const held = await chain.balance(payer.mandate.recipient, ASSET, 'tip');
    expect(await collector.settle(payer)).toMatchObject(taken);
    const sequence = await chain.nextSequence(await chain.sender(keyRef));
    const item = {
      itemId: `all-${madeSoFar()}`,
      place: 0,
      to: environment.recipient(8_000 + madeSoFar()),
      amount: held + AMOUNT,
    };
    const spec = { signing: nextSigning(), keyRef, ...approvedGroup(ASSET, [item], item.itemId) };
    const tx = await chain.buildTransfer(sequence === null ? spec : { ...spec, sequence });
    await chain.broadcast(tx);
    await collector.finalize();
    expect(await chain.status(tx)).toMatchObject(taken);
  });

  test('the cap applies to a window of a subscription, where the network enforces it', async () => {
    const collector = open();
    const payer = await collector.join();
    const { startsAt } = payer.mandate;
    const next = { windowStart: startsAt + WINDOW, windowEnd: startsAt + 2 * WINDOW };
    const shifted = { windowStart: startsAt + 1, windowEnd: startsAt + WINDOW + 1 };
    const { windowCap } = collector.environment.chain.capabilities;
    const overCap = windowCap ? refused('cap_exceeded') : taken;
    expect(await collector.settle(payer)).toMatchObject(taken);
    expect(await collector.settle(payer, { amount: CAP })).toMatchObject(overCap);
    expect(await collector.settle(payer, { amount: CAP - AMOUNT })).toMatchObject(taken);
    expect(await collector.settle(payer, { amount: 1n })).toMatchObject(overCap);
    expect(await collector.settle(payer, { amount: 1n, ...shifted })).toMatchObject(overCap);
    expect(await collector.settle(payer, { amount: 1n, subscriptionId: uuidOf('another') })).toMatchObject(
      taken,
    );
    await collector.environment.passUntil(next.windowStart);
    expect(await collector.settle(payer, { amount: CAP - 1n, ...next })).toMatchObject(taken);
  });
}

function describeCounting(open: () => Collector): void {
  test('a mandate serves as many subscriptions as its payer has signed for, where the network counts them', async () => {
    const collector = open();
    const payer = await collector.join();
    const { windowCap } = collector.environment.chain.capabilities;
    const of = (name: string) => ({ amount: 1n, subscriptionId: uuidOf(`${name} of ${madeSoFar()}`) });
    const [first, second, third] = [of('first'), of('second'), of('third')];
    for (const one of [first, second, first]) expect(await collector.settle(payer, one)).toMatchObject(taken);
    const overCount = windowCap ? refused('cap_exceeded') : taken;
    expect(await collector.settle(payer, third)).toMatchObject(overCount);
    expect(await collector.settle(payer, second)).toMatchObject(taken);
  });

  test('a window is around the present: a day ahead and a week late at most, where the network enforces it', async () => {
    const collector = open();
    const payer = await collector.join();
    const { startsAt: now } = payer.mandate;
    const { windowCap } = collector.environment.chain.capabilities;
    const settle = (windowStart: number) =>
      collector.settle(payer, { amount: 1n, windowStart, windowEnd: windowStart + WINDOW });
    const outside = (reason: string) => (windowCap ? refused(reason) : taken);
    expect(await settle(now + 2 * DAY)).toMatchObject(outside('cap_exceeded'));
    // Whoever sends a charge so late is to blame, and not the payer.
    expect(await settle(now - WINDOW - 8 * DAY)).toMatchObject(outside('too_late'));
    expect(await settle(now - WINDOW - 5 * DAY)).toMatchObject(taken);
    expect(await settle(now - DAY)).toMatchObject(taken);
  });

  test('a charge that was in time for the mandate’s term and came after it was late; one for later is not allowed', async () => {
    const collector = open();
    const { environment } = collector;
    const { windowCap } = environment.chain.capabilities;
    const { mandate } = await collector.meet();
    const payer = await collector.join({ endsAt: mandate.startsAt + DAY });
    await environment.passUntil(mandate.startsAt + 2 * DAY);
    const settle = (windowStart: number) =>
      collector.settle(payer, { amount: 1n, windowStart, windowEnd: windowStart + WINDOW });
    const refusedAs = (reason: string) => (windowCap ? refused(reason) : taken);
    expect(await settle(payer.mandate.startsAt)).toMatchObject(refusedAs('too_late'));
    expect(await settle(payer.mandate.startsAt + 2 * DAY)).toMatchObject(refusedAs('insufficient_allowance'));
  });
}

function describeRefusals(open: () => Collector): void {
  test('a charge above the balance or allowance, or by a revoked mandate, moves nothing and gives the reason', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain } = environment;
    const payer = await collector.join();
    await environment.hold(payer.wallet, AMOUNT - 1n);
    expect(await collector.settle(payer)).toMatchObject(refused('insufficient_balance'));
    await environment.hold(payer.wallet, BALANCE);
    await environment.approve(payer.wallet, AMOUNT - 1n);
    expect(await collector.settle(payer)).toMatchObject(refused('insufficient_allowance'));
    await environment.approve(payer.wallet, AMOUNT);
    expect(await collector.settle(payer)).toMatchObject(taken);
    expect(await collector.settle(payer, { amount: 1n })).toMatchObject(refused('insufficient_allowance'));
    await environment.approve(payer.wallet, ALLOWANCE);
    await environment.revoke(payer.mandate);
    const why = chain.network === 'spl' ? 'insufficient_allowance' : 'mandate_revoked';
    expect(await collector.settle(payer)).toMatchObject(refused(why));
    expect(await chain.balance(payer.wallet.owner, ASSET, 'tip')).toBe(BALANCE - AMOUNT);
  });

  test('an invalid charge is refused before anything is signed', async () => {
    const collector = open();
    const { mandate } = await collector.meet();
    const build = (charge: Partial<ChargeSpec>) => collector.build({ mandate }, charge);
    await expect(build({ amount: 0n })).rejects.toThrow(UnbuildableTransfer);
    await expect(build({ mandate: { ...mandate, cap: mandate.cap * 2n } })).rejects.toThrow(
      UnbuildableTransfer,
    );
    const elsewhere = { ...mandate, recipient: collector.environment.recipient(2) };
    await expect(build({ mandate: elsewhere })).rejects.toThrow(UnbuildableTransfer);
  });

  test('J1: a network with a collector refuses a second charge with the same id', async () => {
    const collector = open();
    if (!collector.environment.chain.capabilities.windowCap) return;
    const payer = await collector.join();
    const chargeId = uuidOf(`once-${madeSoFar()}`);
    expect(await collector.settle(payer, { chargeId, amount: 1n })).toMatchObject(taken);
    // Of another amount: the same charge in the same second would be the same bytes.
    expect(await collector.settle(payer, { chargeId, amount: 2n })).toMatchObject({
      state: 'failed',
      itemOk: [false],
      paidBefore: [true],
    });
    await collector.finalize();
    expect(await collector.stateOf(payer)).toMatchObject({ balance: BALANCE - 1n });
  });
}

function describeTrouble(open: () => Collector): void {
  test('J5: after a reorganisation the payer has the coins back, and the same bytes pull once', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain } = environment;
    const payer = await collector.join();
    const tx = await collector.send(payer);
    await environment.mine(1);
    expect(await chain.balance(payer.wallet.owner, ASSET, 'tip')).toBe(BALANCE - AMOUNT);
    await environment.reorg(1);
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await chain.balance(payer.wallet.owner, ASSET, 'tip')).toBe(BALANCE);
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    await collector.finalize();
    expect(await chain.status(tx)).toMatchObject(taken);
    await collector.finalize();
    expect(await collector.stateOf(payer)).toMatchObject({
      balance: BALANCE - AMOUNT,
      allowance: ALLOWANCE - AMOUNT,
    });
  });

  test.each([{ remine: true }, { remine: false }])(
    'J5: a payer’s transaction vanishes with its block, or moves to the newest one: %o',
    async ({ remine }) => {
      const collector = open();
      const { environment } = collector;
      const payer = await collector.meet();
      await collector.finalize();
      await environment.mine(1);
      await environment.authorize(payer.setup);
      await environment.reorg(1, { remine });
      await collector.finalize();
      expect(await collector.stateOf(payer)).toMatchObject({ state: remine ? 'active' : 'missing' });
      const status = await collector.settle(payer);
      expect(status).toMatchObject(remine ? taken : refused('insufficient_allowance'));
    },
  );

  test('J2: a lost charge is unknown, is mined from the same bytes, and is dead only by proof', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain } = environment;
    const payer = await collector.join();
    await environment.dropNext();
    const lost = await collector.send(payer);
    await environment.mine(1);
    expect(await chain.status(lost)).toEqual({ state: 'unknown', final: false });
    if (lost.sequence !== undefined) await chain.broadcast(await collector.build(payer, { amount: 1n }));
    await collector.finalize();
    await environment.expire();
    expect(await chain.status(lost)).toMatchObject({ state: 'dead', final: true });
    expect(await chain.broadcast(lost)).toMatchObject({ result: 'rejected', retryable: false });
  });

  test('an unreachable network throws ChainUnavailable', async () => {
    const collector = open();
    const { environment } = collector;
    const { chain } = environment;
    const payer = await collector.join();
    await environment.outage(true);
    await expect(chain.mandateStates([payer.mandate])).rejects.toThrow(ChainUnavailable);
    await environment.outage(false);
    expect(await collector.stateOf(payer)).toMatchObject({ state: 'active' });
  });
}

function describeReplacing(open: () => Collector): void {
  test('J4: no payment of ours takes the place of a charge', async () => {
    const collector = open();
    const { chain, keyRef } = collector.environment;
    if (!chain.capabilities.replaceByFee) return;
    const charge = await collector.send(await collector.join());
    const items = [{ itemId: 'instead', place: 0, to: charge.sender, amount: 1n }];
    const spec = { signing: nextSigning(), keyRef, ...approvedGroup(ASSET, items, 'instead') };
    const instead = chain.buildTransfer({ ...spec, sequence: charge.sequence ?? '', replaces: charge });
    await expect(instead).rejects.toThrow(UnbuildableTransfer);
    await collector.finalize();
    expect(await chain.status(charge)).toMatchObject({ state: 'final' });
  });
}
