import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../../../../test/platform.ts';
import { type BlockReason, type Precheck, SigningBlocked } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { transact } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { decideUnderLocks } from '../charges/charge-needs.ts';
import { insertAttempts, lockQueued, readOpenAttempts, readTransfers, type TransferRow } from '../queries.ts';
import { prepareWallet } from '../wallets/prepare-wallet.ts';
import { lockWallet } from '../wallets/wallet-queries.ts';
import { listHeldKeys, stepAside } from './blocked-attempts.ts';
import { type ChargeNeeds, nextChargeStep } from './charge-readiness.ts';
import { NO_TANK_USE, readTankUse, readUnderWay, reserveMovement, sumTopUps } from './movements.ts';
import { numberAttempts } from './reserve-attempts.ts';

// What the signer refuses to the gas tank, which all merchants share, by statements alone.

const NETWORKS = ['erc20', 'trc20'] as const;
const NOW = 1_000_000;
const FEE = 1_000n;

let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

/** A merchant whose hot wallet has no coins for fees. */
function newStore(network: (typeof NETWORKS)[number]) {
  const merchant = { merchantId: newId(), mode: 'live' } as const;
  const chainNext = network === 'erc20' ? 0n : null;
  const hot = { network, sender: `hot ${merchant.merchantId}`, chainNext };
  const tank = { address: `tank of ${network}`, native: 10n ** 20n, nextSequence: chainNext };
  const contextAt = (nowSeconds: number) => ({ deps: platform, merchant, nowSeconds });
  const precheck: Precheck = {
    refused: null,
    unpayable: new Set(),
    fees: [FEE],
    native: 0n,
    allowance: null,
    isDelegateMissing: false,
    movementFees: { gas: 10n, approve: 10n, deploy: 10n },
    tank,
    paidByTank: null,
  };
  const payEach = async (groupIds: readonly string[], nowSeconds: number, chain: Partial<Precheck> = {}) => {
    const groups = groupIds.map((id) => [
      {
        network,
        currency: 'USDT',
        group_id: id,
        key_ref: 'hot',
        amount: 1n,
        created_at: nowSeconds,
      } as const,
    ]);
    const fees = groupIds.map(() => FEE);
    const of = { wallet: hot, precheck: { ...precheck, fees, ...chain }, groups };
    return await transact(platform.db, (tx) => prepareWallet(tx, contextAt(nowSeconds), of));
  };
  /** @returns what a payment in a group of its own waits for */
  const pay = async (groupId: string, nowSeconds: number) => (await payEach([groupId], nowSeconds)).waitsFor;
  /** The signer refuses what the group has reserved. */
  const refuse = async (groupId: string, nowSeconds: number, reason: BlockReason = 'policy') => {
    const open = await readOpenAttempts(platform.db, merchant.merchantId, [groupId]);
    const blocked = new SigningBlocked(network, reason, 'the signer refuses it');
    const list = open.map((attempt) => ({ attempt, blocked }));
    await transact(platform.db, (tx) => stepAside(tx, contextAt(nowSeconds), list, []));
  };
  const attempts = async () => {
    const { rows } = await sql<{ status: string; kind: string }>`
      select status, coalesce(movement ->> 'kind', 'fill') as kind from transfer_attempt
      where merchant_id = ${merchant.merchantId} order by created_at, ordinal`.execute(platform.db);
    return rows.map(({ status, kind }) => `${status} ${kind}`);
  };
  const heldUntil = async (groupId: string) => {
    const { rows } = await sql<{ until: bigint }>`
      select until from transfer_hold where merchant_id = ${merchant.merchantId} and group_id = ${groupId}`.execute(
      platform.db,
    );
    return Number(rows[0]?.until ?? 0);
  };
  return { merchant, network, hot, tank, precheck, contextAt, pay, payEach, refuse, attempts, heldUntil };
}

test('what the signer has refused to the gas tank for one group is not ordered for the next one before the hold is over', async () => {
  const { pay, refuse, attempts, heldUntil } = newStore('erc20');
  const [first, second, third] = [newId(), newId(), newId()];
  expect(await pay(first, NOW)).toBe('wait_gas');
  await refuse(first, NOW);
  const refused = ['failed gas', 'reserved fill'];
  expect(await attempts()).toEqual(refused);
  for (const group of [second, third]) expect(await pay(group, NOW + 59)).toBe('top_up_refused');
  expect(await attempts()).toEqual(refused);
  // Each refusal of a merchant, whichever group had it, makes the next wait longer.
  let now = NOW + 60;
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    const group = [second, third][i % 2] ?? second;
    expect(await pay(group, now)).toBe('wait_gas');
    await refuse(group, now, i % 2 === 0 ? 'limit' : 'purpose');
    const until = await heldUntil(group);
    waits.push(until - now);
    expect(await pay(first, until - 1)).toBe('top_up_refused');
    now = until;
  }
  expect(waits).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  expect(await attempts()).toHaveLength(2 + 2 * waits.length);
  // Hours later it is a new fault.
  expect(await pay(first, now + 7_200)).toBe('wait_gas');
  await refuse(first, now + 7_200);
  expect((await heldUntil(first)) - (now + 7_200)).toBe(60);
});

test('where the network has no sequences, what is refused to the gas tank is given up too: it counts to no limit any more', async () => {
  const { merchant, network, hot, tank, pay, refuse, attempts } = newStore('trc20');
  const { merchantId } = merchant;
  const [first, second] = [newId(), newId()];
  const wallet = { network, sender: tank.address, chainNext: null };
  const counted = async () =>
    await transact(platform.db, async (tx) => ({
      day: await sumTopUps(tx, { merchantId, network, nowSeconds: NOW }),
      tank: await readTankUse(tx, wallet, 10n),
      underWay: (await readUnderWay(tx, { merchantId, currency: 'USDT', hot, tank: wallet })).gas,
    }));
  const NOTHING = { day: 0n, tank: NO_TANK_USE, underWay: 0n };
  expect(await counted()).toEqual(NOTHING);
  expect(await pay(first, NOW)).toBe('wait_gas');
  const GIVEN = 1_250n;
  expect(await counted()).toEqual({
    day: GIVEN,
    tank: { ...NO_TANK_USE, tankSpending: GIVEN + 10n, topUps: GIVEN },
    underWay: GIVEN,
  });
  // What people have to approve first, or a signer that signs nothing now, keeps it.
  await refuse(first, NOW, 'approvals');
  await refuse(first, NOW, 'frozen');
  expect(await attempts()).toEqual(['reserved gas']);
  await refuse(first, NOW, 'limit');
  expect(await attempts()).toEqual(['failed gas']);
  expect(await counted()).toEqual(NOTHING);
  expect(await pay(second, NOW + 59)).toBe('top_up_refused');
  expect(await pay(second, NOW + 60)).toBe('wait_gas');
});

test('a sweep that the signer refuses to a deposit address gives way at once: what was lent for it can come back', async () => {
  const { merchant, network, precheck, pay, contextAt, attempts, heldUntil } = newStore('trc20');
  const { merchantId } = merchant;
  const [groupId, transferId] = [newId(), newId()];
  const sender = `deposit of ${merchantId}`;
  await sql`
    insert into transfer (merchant_id, transfer_id, group_id, place, owner_type, owner_id, network, currency, key_ref, address, amount,
                          status, created_at)
    values (${merchantId}, ${transferId}, ${groupId}, 0, 'sweep', ${groupId}, ${network}, 'USDT', 'deposit:7', 'hot', 5, 'queued',
            ${NOW})`.execute(platform.db);
  const readQueued = async (now: number) =>
    await transact(platform.db, (tx) => lockQueued(tx, merchantId, [groupId], now));
  const reserve = async (now: number) =>
    await transact(platform.db, async (tx) => {
      const transfers = await lockQueued(tx, merchantId, [groupId], now);
      const wallet = { network, sender, chainNext: null };
      const list = [{ attemptId: newId(), transfers }];
      const next = await lockWallet(tx, wallet);
      await insertAttempts(tx, await numberAttempts(tx, wallet, { next, attempts: list }), now);
    });
  const refuse = async (reason: BlockReason, now: number) => {
    const open = await readOpenAttempts(platform.db, merchantId, [groupId]);
    const transfers = await readTransfers(platform.db, merchantId, [groupId]);
    const list = open.map((attempt) => ({
      attempt,
      blocked: new SigningBlocked(network, reason, 'the signer refuses it'),
    }));
    await transact(platform.db, (tx) => stepAside(tx, contextAt(now), list, transfers));
  };
  await reserve(NOW);
  // After a refusal for one of these reasons the signer is asked again for the same attempt.
  for (const reason of ['approvals', 'frozen', 'epoch'] as const) await refuse(reason, NOW);
  expect(await attempts()).toEqual(['reserved fill']);
  await refuse('limit', NOW);
  expect(await attempts()).toEqual(['failed fill']);
  const [{ status } = { status: '' }] = await readTransfers(platform.db, merchantId, [groupId]);
  expect(status).toBe('queued');
  // Before that it is given nothing again: neither energy nor coins.
  expect(await heldUntil(groupId)).toBe(NOW + 60);
  expect(await readQueued(NOW + 59)).toEqual([]);
  // Nor are the addresses of other groups: what they are given takes from what payouts may get in a day.
  const other = async (now: number) => {
    const due = {
      network,
      currency: 'USDT',
      group_id: newId(),
      key_ref: 'deposit:8',
      amount: 1n,
      created_at: now,
    };
    const wallet = { network, sender: `another deposit of ${merchantId}`, chainNext: null };
    const of = { wallet, precheck, groups: [[due as TransferRow]] };
    return (await transact(platform.db, (tx) => prepareWallet(tx, contextAt(now), of))).waitsFor;
  };
  expect(await other(NOW + 59)).toBe('top_up_refused');
  expect(await pay(newId(), NOW + 59)).toBe('wait_gas');
  await sql`delete from transfer_attempt where merchant_id = ${merchantId} and key_ref = 'tank'`.execute(
    platform.db,
  );
  await reserve(NOW + 60);
  await refuse('fee', NOW + 60);
  expect(await attempts()).toEqual(['failed fill', 'failed fill']);
  expect(await readQueued(NOW + 200)).toHaveLength(1);
  expect(await other(NOW + 200)).toBe('wait_gas');
});

test.each([
  ['the tank is low', { native: 0n }],
  ['the day of the signer is used up', { topUpsLeft: 0n }],
  ['the signer gives no top-ups at all', { topUpMax: 0n }],
])('where %s, as many payments go as the coins that are there pay for', async (_name, bound) => {
  const { payEach, attempts, tank } = newStore('trc20');
  const groupIds = Array.from({ length: 10 }, () => newId());
  const chain = { native: 4n * FEE, tank: { ...tank, ...bound } };
  // Ten are halved until they can be paid.
  expect(await payEach(groupIds, NOW, chain)).toEqual({ waitsFor: undefined, count: 2 });
  expect((await payEach(groupIds.slice(0, 1), NOW, { ...chain, native: 0n })).waitsFor).toBeDefined();
  expect(await attempts()).toEqual([]);
});

test('a hold that is renewed begins where it began, while it lasts', async () => {
  const { merchant, network, tank, pay, refuse, contextAt } = newStore('trc20');
  const { merchantId } = merchant;
  const group = newId();
  expect(await pay(group, NOW)).toBe('wait_gas');
  await refuse(group, NOW);
  const order = { merchantId, groupId: group, currency: 'USDT', keyRef: 'tank' } as const;
  const wallet = { network, sender: tank.address, chainNext: null };
  const movement = { kind: 'gas', amount: 1n } as const;
  const heldAt = async () => {
    const { rows } = await sql<{ held_at: bigint }>`
      select held_at from transfer_hold where merchant_id = ${merchantId}`.execute(platform.db);
    return rows.map((row) => Number(row.held_at));
  };
  const renewAt = async (now: number) => {
    await transact(platform.db, (tx) => reserveMovement(tx, { ...order, wallet, movement }, now));
    await refuse(group, now);
    const of = { merchant: contextAt(now).merchant, nowSeconds: now };
    const held = await transact(platform.db, (tx) => listHeldKeys(tx, of, [group]));
    expect([...held]).toEqual(['tank']);
    return await heldAt();
  };
  expect(await renewAt(NOW + 30)).toEqual([NOW]);
  // It was over.
  expect(await renewAt(NOW + 500)).toEqual([NOW + 500]);
  // A clock that ran ahead had written it.
  expect(await renewAt(NOW + 100)).toEqual([NOW + 100]);
});

test('a hold of one merchant or network is not that of another, nor is one that a clock in the future has written', async () => {
  const [refused, other] = [newStore('erc20'), newStore('erc20')];
  const group = newId();
  expect(await refused.pay(group, NOW + 5_000)).toBe('wait_gas');
  await refused.refuse(group, NOW + 5_000);
  expect(await refused.pay(newId(), NOW + 5_001)).toBe('top_up_refused');
  expect(await other.pay(newId(), NOW + 5_001)).toBe('wait_gas');
  expect(await refused.pay(newId(), NOW)).toBe('wait_gas');
});

test('while a rotation closes the wallet, the wait for the gas tank grows all the same', async () => {
  const { merchant, network, pay, refuse, heldUntil } = newStore('erc20');
  await platform.db
    .insertInto('wallet_rotation')
    .values({
      merchant_id: merchant.merchantId,
      rotation_id: newId(),
      network,
      epoch: 1,
      status: 'closing',
      created_at: NOW,
    })
    .execute();
  const group = newId();
  let now = NOW;
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    expect(await pay(group, now)).toBe('wait_gas');
    await refuse(group, now);
    waits.push((await heldUntil(group)) - now);
    now = await heldUntil(group);
  }
  expect(waits).toEqual([60, 60, 120, 240]);
});

test("charges of other groups order neither ether nor the merchant's account while the signer has refused that", async () => {
  const { merchant, hot, tank, contextAt, refuse, attempts } = newStore('erc20');
  const { merchantId } = merchant;
  const [first, currency] = [newId(), 'USDT'] as const;
  const precheck = {
    refused: null,
    native: 0n,
    tank,
    fee: 100n,
    dearest: 100n,
    isOtherOperator: false,
    activation: null,
    movementFees: { gas: 10n, account: 10n, activate: 10n },
    missing: new Set<string>(),
    faults: new Map(),
    unclear: new Set<string>(),
  };
  const decide = async (isAccountMissing: boolean, now: number) =>
    await transact(platform.db, (tx) =>
      decideUnderLocks(
        tx,
        contextAt(now),
        { hot, precheck: { ...precheck, isAccountMissing }, currency },
        (needs: ChargeNeeds) => nextChargeStep(needs, 1),
      ),
    );
  const step = await decide(true, NOW);
  expect(step).toMatchObject({ do: 'move', movement: { kind: 'account' } });
  const wallet = { network: hot.network, sender: tank.address, chainNext: tank.nextSequence };
  const movement = { kind: 'account' } as const;
  await transact(platform.db, (tx) =>
    reserveMovement(tx, { merchantId, groupId: first, currency, keyRef: 'tank', wallet, movement }, NOW),
  );
  await refuse(first, NOW, 'purpose');
  expect(await attempts()).toEqual(['failed account', 'reserved fill']);
  const waits = { do: 'wait', reason: 'top_up_refused' };
  expect(await decide(true, NOW + 59)).toEqual(waits);
  expect(await decide(false, NOW + 59)).toEqual(waits);
  expect(await decide(true, NOW + 60)).toMatchObject({ do: 'move' });
});
