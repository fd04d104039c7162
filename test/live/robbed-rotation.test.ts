import { type Hex, keccak256, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { enqueue } from '../../packages/server/src/platform/jobs/index.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import {
  type MovementOrder,
  reserveMovement,
} from '../../packages/server/src/transfers/attempts/movements.ts';
import { SEND_JOB } from '../../packages/server/src/transfers/request-transfers.ts';
import { readWalletAt } from '../../packages/server/src/transfers/wallets/wallet-queries.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { LiveStore, WITHIN } from './live-store.ts';
import { hotOf, lookAtRotation, rotate, rotationOf } from './rotating.ts';

const LONG = { timeout: 300_000 };
const CEILING = parseEther('0.25');

// Whoever holds an old key takes the wallet's ether without using a sequence: its code, by EIP-7702, sends out what comes in.
describe.skipIf(!hasAnvil())('a rotation whose old key is in use by somebody else', () => {
  let store: LiveStore;
  let groupId: string;
  let recipients = 0;
  beforeAll(async () => {
    store = await LiveStore.start();
    await store.paid(100);
    await pay();
    await rotate(store);
    await store.until(() => rotationOf(store), { status: 'done', epoch: 1 });
    await store.expectSettled();
    const sql = 'select rotation_id from wallet_rotation where merchant_id = $1';
    const [row] = await asOwner<{ rotation_id: string }>(store.service, sql, [store.merchant.merchantId]);
    groupId = row?.rotation_id ?? '';
  }, 180_000);
  afterAll(() => store?.stop());

  async function pay(): Promise<void> {
    recipients += 1;
    const address = freshAddress(980 + recipients);
    const id = await store.submitted([{ address, amount: '1.50' }]);
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await store.world.balance('USDT', address)).toBe(1_500_000n);
  }
  const chainOf = async () => {
    const { app } = store.service;
    return app.chains.of(await getMerchant(app.db, store.merchant.merchantId), 'erc20');
  };
  const setEther = (value: bigint) => store.world.client.setBalance({ address: hotOf(0), value });
  const left = async () => ({ left: await store.world.balance('USDT', hotOf(0)) });
  /** What the tank has given to the old wallet, in wei. */
  const given = async () => {
    const [row] = await asOwner<{ wei: string }>(
      store.service,
      `select coalesce(sum((movement ->> 'amount')::numeric), 0)::text as wei from transfer_attempt
       where group_id = $1 and movement ->> 'kind' = 'gas' and movement ->> 'to' = 'hot:0'`,
      [groupId],
    );
    return BigInt(row?.wei ?? 0);
  };
  /** A top-up of the old wallet as it is stored once it is over; it has no sequence that others use. */
  const insertTopUp = async (amount: bigint) => {
    const nowSeconds = store.service.app.clock.nowSeconds();
    const tank = await (await chainOf()).sender('tank');
    const movement = JSON.stringify({ kind: 'gas', amount: String(amount), to: 'hot:0' });
    await asOwner(
      store.service,
      `insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, status, item_ids,
         movement, height, created_at, completed_at)
       values ($1, gen_random_uuid(), $2, 'erc20', 'USDT', 'tank', $3, 'succeeded', array[gen_random_uuid()], $4, 1, $5::bigint, $5::bigint)`,
      [store.merchant.merchantId, groupId, tank, movement, nowSeconds],
    );
  };

  async function order(movement: Pick<MovementOrder, 'keyRef' | 'wallet' | 'movement'>): Promise<void> {
    const { app } = store.service;
    const { merchantId } = store.merchant;
    const payload = { groupId };
    const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs: app.clock.nowMs(), payload };
    await transact(app.db, async (tx) => {
      const nowSeconds = app.clock.nowSeconds();
      await reserveMovement(tx, { merchantId, groupId, currency: 'USDT', ...movement }, nowSeconds);
      await enqueue(tx, [job]);
    });
  }

  /** A move of the old wallet's ether that is sent and in no block, after which all of it is taken. @returns how it stands */
  async function robbed(moved: bigint) {
    const chain = await chainOf();
    const fee = (await chain.readRotation())?.fees.plain ?? 0n;
    await setEther(moved + 10n * fee);
    const wallet = await readWalletAt(chain, hotOf(0));
    await order({ keyRef: 'hot:0', wallet, movement: { kind: 'move', asset: null, amount: moved } });
    const attempt = async () => {
      const [row] = await asOwner<{ status: string; tx_id: Hex; gap_tx_id: Hex | null }>(
        store.service,
        `select status, tx_id, gap_tx_id from transfer_attempt
         where group_id = $1 and movement ->> 'amount' = $2 and movement ->> 'kind' = 'move'`,
        [groupId, String(moved)],
      );
      return row;
    };
    await expect.poll(attempt, WITHIN).toMatchObject({ status: 'sent' });
    const hash = (await attempt())?.tx_id ?? '0x';
    const asked = { method: 'eth_getTransactionByHash', params: [hash] };
    const waiting: unknown = await store.world.client.transport.request(asked);
    await setEther(0n);
    // What a node says at once may be of the block before.
    const aged = 'update transfer_attempt set sent_at = sent_at - 600 where group_id = $1 and tx_id = $2';
    await asOwner(store.service, aged, [groupId, hash]);
    return { attempt, hash, waiting };
  }

  test(
    'fault 91: a move of ether that was taken is given up for the fee of an empty payment, and coins go on',
    LONG,
    async () => {
      const { attempt, hash: moved, waiting } = await robbed(parseEther('3'));
      const before = await given();
      // As reth does: the node keeps the move that nobody pays. The empty payment does not arrive the first time.
      const sent = new Map<unknown, number>();
      const isGap = (raw: unknown) => keccak256(raw as Hex) === gap;
      let gap: Hex | null | undefined;
      store.node.refuse = ({ method, params: [raw] }) => {
        if (method !== 'eth_sendRawTransaction') return undefined;
        sent.set(raw, (sent.get(raw) ?? 0) + 1);
        return sent.get(raw) === 1 ? 'cut' : undefined;
      };
      store.node.lie = ({ method, params: [hash] }) => {
        const hasArrived = [...sent].some(([raw, times]) => times > 1 && isGap(raw));
        return method === 'eth_getTransactionByHash' && hash === moved && !hasArrived ? waiting : undefined;
      };
      await store.until(attempt, { gap_tx_id: expect.any(String) });
      gap = (await attempt())?.gap_tx_id;
      await store.until(attempt, { status: 'dead', gap_tx_id: expect.any(String) });
      store.node.behave();
      // What was moved is twelve times what a rotation may give in all.
      expect((await given()) - before).toBeLessThan(CEILING / 10n);
      await store.world.mint('USDT', hotOf(0), 5_000_000n);
      await lookAtRotation(store);
      await store.until(
        async () => {
          await lookAtRotation(store);
          return await left();
        },
        { left: 0n },
      );
      await store.expectSettled();
    },
  );

  test(
    'no ether is asked for while the signer has refused some, and what needs none is moved',
    LONG,
    async () => {
      // Above gas_top_up of the policy. Though nothing waits behind it, it gives its sequence up.
      const chain = await chainOf();
      const tank = await readWalletAt(chain, await chain.sender('tank'));
      const amount = parseEther('0.2');
      await order({ keyRef: 'tank', wallet: tank, movement: { kind: 'gas', amount, to: 'hot:0' } });
      const ofTank = () =>
        asOwner<{ status: string; kind: string | null }>(
          store.service,
          `select status, movement ->> 'kind' as kind from transfer_attempt
           where group_id = $1 and key_ref = 'tank' and (sequence = $2 or sequence is null) order by kind`,
          [groupId, tank.chainNext],
        );
      const refused = { status: 'failed', kind: 'gas' };
      await store.until(async () => ({ list: await ofTank() }), {
        list: [refused, { status: 'succeeded', kind: null }],
      });
      await asOwner(store.service, 'update transfer_hold set until = until + 3600 where group_id = $1', [
        groupId,
      ]);
      const before = await given();
      await setEther(0n);
      await store.world.mint('USDT', hotOf(0), 5_000_000n);
      const { lines } = await lookAtRotation(store);
      expect(lines).toEqual([expect.stringContaining('the signer has refused')]);
      await setEther(parseEther('0.2'));
      await lookAtRotation(store);
      await store.until(left, { left: 0n });
      expect(await given()).toBe(before);
      await asOwner(store.service, 'delete from transfer_hold where group_id = $1', [groupId]);
      await store.expectSettled();
    },
  );

  test(
    'fault 91: an old wallet that can pay nothing any more holds up no later rotation, and gets no more than the ceiling',
    LONG,
    async () => {
      const { attempt } = await robbed(parseEther('2'));
      // As after many top-ups that were taken.
      await insertTopUp(CEILING);
      const before = await given();
      await store.until(attempt, { status: 'sent', gap_tx_id: expect.any(String) });
      await asOwner(
        store.service,
        "update transfer_attempt set sent_at = sent_at - 600 where status = 'sent'",
        [],
      );
      const { lines, waitMs } = await lookAtRotation(store);
      expect(lines).toEqual([expect.stringContaining('was taken')]);
      // In the first day after a switch somebody looks often, though the rotation is over.
      expect(waitMs).toBeLessThanOrEqual(30_000);
      await asOwner(
        store.service,
        'update wallet_rotation set switched_at = switched_at - 90000 where rotation_id = $1',
        [groupId],
      );
      expect((await lookAtRotation(store)).waitMs).toBeGreaterThan(3_000_000);

      expect(await rotate(store)).toMatchObject({ epoch: 2, to: hotOf(2) });
      await pay();
      expect(await attempt()).toMatchObject({ status: 'sent' });
      expect(await given()).toBe(before);
      // The tokens of the wallet between have come along, though the oldest one is stuck.
      expect(await store.world.balance('USDT', hotOf(1))).toBe(0n);

      await setEther(parseEther('1'));
      await store.until(attempt, { status: 'dead' });
      await store.expectSettled();
    },
  );
});
