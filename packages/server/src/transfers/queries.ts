import { sql } from 'kysely';
import type { KeyRef, SignedTx } from '../chains/port/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { deferred, listed, prepared } from '../platform/db/statements/index.ts';
import { type ChargeOrder, storedCharge } from './charges/charges.ts';
import { ATTEMPT_MOVES, TRANSFER_MOVES, type TransferVerdict, type Verdict } from './states.ts';
import './tables.ts';

/** The key of the hot wallet, which pays others. */
export const HOT_KEY_REF: KeyRef = 'hot';
/** The key of the gas tank, which sends sweeps and gives ether to hot wallets. */
export const TANK_KEY_REF: KeyRef = 'tank';

const inGroups = (groupIds: readonly string[]) => sql<boolean>`group_id = any(${groupIds}::uuid[])`;

export async function readTransfers(db: Db, merchantId: string, groupIds: readonly string[]) {
  return await db
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(inGroups(groupIds))
    .orderBy('transfer_id')
    .execute();
}
export type TransferRow = Awaited<ReturnType<typeof readTransfers>>[number];

/** Transfers that an attempt may still pay. */
const UNDECIDED = TRANSFER_MOVES.before('succeeded');

/**
 * Locks the groups' queued transfers, so that two runs cannot both make an attempt for one; without those that wait for
 * people (`blocked-attempts.ts`).
 */
export async function lockQueued(
  tx: Tx,
  merchantId: string,
  groupIds: readonly string[],
  nowSeconds: number,
): Promise<TransferRow[]> {
  return await queued(tx, merchantId, groupIds)
    .where(
      sql<boolean>`not exists (select from transfer_hold h
        where h.merchant_id = transfer.merchant_id and h.group_id = transfer.group_id
          and h.held_at <= ${nowSeconds} and h.until > ${nowSeconds})`,
    )
    .execute();
}

/** Locks all queued transfers. */
export async function lockQueuedAndHeld(
  tx: Tx,
  merchantId: string,
  groupIds: readonly string[],
): Promise<TransferRow[]> {
  return await queued(tx, merchantId, groupIds).execute();
}

const queued = (tx: Tx, merchantId: string, groupIds: readonly string[]) =>
  tx
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(inGroups(groupIds))
    .where('status', '=', 'queued')
    .orderBy('transfer_id')
    .forUpdate();

export async function readOpenAttempts(db: Db, merchantId: string, groupIds: readonly string[]) {
  return await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(inGroups(groupIds))
    .where('status', 'in', ['reserved', 'signed', 'sent'])
    .orderBy('attempt_id')
    .execute();
}
export type AttemptRow = Awaited<ReturnType<typeof readOpenAttempts>>[number];

export interface NewAttempt {
  attemptId: string;
  sender: string;
  sequence: bigint | null;
  ordinal: bigint;
  previous: string | null;
  /** The key that sends it, where that is not the one that the transfers leave from. */
  sentBy?: KeyRef;
  /** Where the gas tank pays for it. */
  paidBy?: { tank: string; openings: bigint };
  /** Transfers of one group and one key. */
  transfers: readonly TransferRow[];
}

const SEND = TRANSFER_MOVES.move('queued', 'sending');

/** Writes attempts of one network and token, and moves their queued transfers to `sending`. */
export async function insertAttempts(
  tx: Tx,
  attempts: readonly NewAttempt[],
  nowSeconds: number,
): Promise<void> {
  const first = attempts[0]?.transfers[0];
  if (first === undefined) return;
  const carried = attempts.flatMap(({ attemptId, transfers }) =>
    transfers.map((transfer, position) => ({ attemptId, transferId: transfer.transfer_id, position })),
  );
  const bound = listed('b', carried, {
    attempt_id: ['uuid', (b) => b.attemptId],
    transfer_id: ['uuid', (b) => b.transferId],
    position: ['integer', (b) => b.position],
  });
  const added = listed('a', attempts, {
    attempt_id: ['uuid', (a) => a.attemptId],
    group_id: ['uuid', (a) => a.transfers[0]?.group_id ?? null],
    key_ref: ['text', (a) => a.sentBy ?? a.transfers[0]?.key_ref ?? null],
    sender: ['text', (a) => a.sender],
    sequence: ['bigint', (a) => a.sequence],
    ordinal: ['bigint', (a) => a.ordinal],
    previous_id: ['uuid', (a) => a.previous],
    fee_payer: ['text', (a) => a.paidBy?.tank ?? null],
    openings: ['numeric', (a) => a.paidBy?.openings ?? null],
  });
  await deferred`
    with bound as (select * from ${bound})
    insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, sequence, ordinal, previous_id,
                                  status, item_ids, fee_payer, openings, created_at)
    select ${first.merchant_id}::uuid, a.attempt_id, a.group_id, ${first.network}, ${first.currency},
           a.key_ref, a.sender, a.sequence, a.ordinal, a.previous_id, 'reserved',
           (select array_agg(b.transfer_id order by b.position) from bound b where b.attempt_id = a.attempt_id),
           a.fee_payer, a.openings, ${nowSeconds}::bigint
    from ${added}`.execute(tx);
  await carryTransfers(tx, first.merchant_id, carried);
}

/** Moves queued transfers to `sending`, each with the attempt that carries it. */
export async function carryTransfers(
  tx: Tx,
  merchantId: string,
  carried: readonly { attemptId: string; transferId: string }[],
): Promise<void> {
  if (carried.length === 0) return;
  const bound = listed('b', carried, {
    attempt_id: ['uuid', (b) => b.attemptId],
    transfer_id: ['uuid', (b) => b.transferId],
  });
  await deferred`
    update transfer t set status = ${SEND.to}, attempt_id = b.attempt_id, tries = t.tries + 1
    from ${bound}
    where t.merchant_id = ${merchantId} and t.transfer_id = b.transfer_id and t.status = ${SEND.from}`.execute(
    tx,
  );
}

const SIGN = ATTEMPT_MOVES.move('reserved', 'signed');
const BROADCAST = ATTEMPT_MOVES.move('signed', 'sent');

/** Stores the signed bytes of reserved attempts. Stored bytes are never replaced. */
export async function storeSigned(
  tx: Tx,
  merchantId: string,
  list: readonly { attemptId: string; signed: SignedTx }[],
): Promise<void> {
  if (list.length === 0) return;
  const stored = listed('s', list, {
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    tx_id: ['text', ({ signed }) => signed.txId],
    raw: ['text', ({ signed }) => signed.raw],
    fee_limit: ['numeric', ({ signed }) => signed.feeLimit ?? null],
    height: ['bigint', ({ signed }) => signed.validUntil?.height ?? null],
    time_ms: ['bigint', ({ signed }) => signed.validUntil?.timeMs ?? null],
  });
  await deferred`
    update transfer_attempt t
    set status = ${SIGN.to}, tx_id = s.tx_id, raw = s.raw, fee_limit = s.fee_limit, valid_until_height = s.height, valid_until_ms = s.time_ms
    from ${stored}
    where t.merchant_id = ${merchantId} and t.attempt_id = s.attempt_id and t.status = ${SIGN.from}`.execute(
    tx,
  );
}

/** The stored transaction of an attempt. @throws Error where it is not signed */
export function signedOf(attempt: AttemptRow): SignedTx {
  if (attempt.tx_id === null || attempt.raw === null)
    throw new Error(`attempt ${attempt.attempt_id} is not signed`);
  const { valid_until_height: height, valid_until_ms: timeMs } = attempt;
  return {
    network: attempt.network,
    txId: attempt.tx_id,
    raw: attempt.raw,
    sender: attempt.sender,
    itemIds: attempt.item_ids,
    ...(attempt.sequence === null ? {} : { sequence: String(attempt.sequence) }),
    ...(attempt.fee_limit === null ? {} : { feeLimit: BigInt(attempt.fee_limit) }),
    ...(height === null && timeMs === null
      ? {}
      : {
          validUntil: {
            ...(height === null ? {} : { height: String(height) }),
            ...(timeMs === null ? {} : { timeMs: Number(timeMs) }),
          },
        }),
  };
}

export async function markSent(
  tx: Tx,
  merchantId: string,
  attemptIds: readonly string[],
  nowSeconds: number,
): Promise<void> {
  await deferred`
    update transfer_attempt set status = ${BROADCAST.to}, sent_at = ${nowSeconds}::bigint
    where merchant_id = ${merchantId} and attempt_id = any(${attemptIds}::uuid[])
      and status = ${BROADCAST.from}`.execute(tx);
}

export interface AttemptOutcome {
  attempt: AttemptRow;
  verdict: Verdict;
  detail: string | null;
  /** The block that decided it; null where none did. */
  height: bigint | null;
  /** Native coin spent, where it is known. */
  fee: bigint | null;
  /** What that was worth, in millionths of a dollar; absent where it is not known. */
  feeDollars?: bigint | undefined;
  /** The version that was mined, which is the attempt's from now on; null for an attempt without bytes. */
  signed: SignedTx | null;
  /** The attempts that paid its transfers before it came, as far as they are known. */
  paidBy: ReadonlyMap<string, AttemptRow>;
}

/** Writes the outcomes of attempts and of their transfers. @returns the ones that were not decided before */
export async function closeAttempts(
  tx: Tx,
  merchantId: string,
  closings: readonly AttemptOutcome[],
  nowSeconds: number,
): Promise<AttemptOutcome[]> {
  const decided = listed('v', closings, {
    attempt_id: ['uuid', (c) => c.attempt.attempt_id],
    status: ['text', (c) => c.verdict.attempt],
    detail: ['text', (c) => c.detail],
    height: ['bigint', (c) => c.height],
    fee: ['numeric', (c) => c.fee],
    dollars: ['numeric', (c) => c.feeDollars ?? null],
  });
  const { rows } = await prepared<{ attempt_id: string }>`
    update transfer_attempt t set status = v.status, detail = v.detail, height = v.height, fee_native = v.fee, fee_usd = v.dollars / 1000000, completed_at = ${nowSeconds}::bigint
    from ${decided}
    where t.merchant_id = ${merchantId} and t.attempt_id = v.attempt_id
      and t.status <> v.status and ${ATTEMPT_MOVES.allowedIn(sql`t.status`, sql`v.status`)}
    returning t.attempt_id`.execute(tx);
  const written = new Set(rows.map((row) => row.attempt_id));
  const closed = closings.filter(({ attempt }) => written.has(attempt.attempt_id));
  const outcomes = closed.flatMap(({ signed, verdict, paidBy }) =>
    verdict.transfers.map((transfer) => ({
      ...transfer,
      txId: paidBy.get(transfer.transferId)?.tx_id ?? signed?.txId ?? null,
    })),
  );
  await writeOutcomes(tx, merchantId, outcomes, nowSeconds);
  return closed;
}

/** A transfer's verdict and the transaction that decided it. */
export type TransferOutcome = TransferVerdict & { txId: string | null };

/** Writes the outcomes of open transfers; decided ones do not change. */
export async function writeOutcomes(
  tx: Tx,
  merchantId: string,
  outcomes: readonly TransferOutcome[],
  nowSeconds: number,
): Promise<void> {
  if (outcomes.length === 0) return;
  const decided = listed('v', outcomes, {
    transfer_id: ['uuid', (o) => o.transferId],
    status: ['text', (o) => o.to],
    alone: ['boolean', (o) => o.to === 'queued' && o.alone],
    tx_id: ['text', (o) => o.txId],
    code: ['text', (o) => (o.to === 'failed' ? o.code : null)],
    message: ['text', (o) => (o.to === 'failed' ? o.message : null)],
  });
  await deferred`
    update transfer t
    set status = v.status, alone = t.alone or v.alone, attempt_id = null,
        tx_id = case when v.status = 'queued' then null else v.tx_id end,
        failure_code = v.code, failure_message = v.message,
        completed_at = case when v.status = 'queued' then null else ${nowSeconds}::bigint end
    from ${decided}
    where t.merchant_id = ${merchantId} and t.transfer_id = v.transfer_id and t.status = any(${UNDECIDED}::text[])
      and ${TRANSFER_MOVES.allowedIn(sql`t.status`, sql`v.status`)}`.execute(tx);
}

export interface TransferOrder {
  /** The wallet that pays; the hot wallet by default. */
  keyRef?: KeyRef;
  ownerType: string;
  ownerId: string;
  groupId: string;
  /** Its place in the group, from 0: a network pays each place once, so an order that repeats another has its place. */
  place: number;
  network: TransferRow['network'];
  currency: TransferRow['currency'];
  /** Canonical form. */
  address: string;
  amount: bigint;
  memo: string | null;
  /** Makes the transfer a charge: coins come from `address`, a payer's wallet, instead of going there; alone in its group. */
  charge?: ChargeOrder;
  /** As of a `JobSpec`. */
  trace?: string | null | undefined;
}

export async function insertTransfers(
  tx: Tx,
  merchantId: string,
  orders: readonly TransferOrder[],
  nowSeconds: number,
): Promise<void> {
  const ordered = listed('o', orders, {
    transfer_id: ['uuid', () => newId()],
    owner_type: ['text', (o) => o.ownerType],
    owner_id: ['uuid', (o) => o.ownerId],
    group_id: ['uuid', (o) => o.groupId],
    place: ['integer', (o) => o.place],
    network: ['text', (o) => o.network],
    currency: ['text', (o) => o.currency],
    key_ref: ['text', (o) => o.keyRef ?? HOT_KEY_REF],
    address: ['text', (o) => o.address],
    amount: ['bigint', (o) => o.amount],
    memo: ['text', (o) => o.memo],
    charge: ['text', (o) => (o.charge === undefined ? null : JSON.stringify(storedCharge(o.charge)))],
  });
  await deferred`
    insert into transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, place, network, currency, key_ref, address,
                          amount, memo, charge, status, created_at)
    select ${merchantId}::uuid, o.transfer_id, o.owner_type, o.owner_id, o.group_id, o.place, o.network, o.currency, o.key_ref, o.address,
           o.amount, o.memo, o.charge::jsonb, 'queued', ${nowSeconds}::bigint
    from ${ordered}`.execute(tx);
}

/** Decided transfers of a group, for their owner to book, oldest first: of one that was ordered again the newest is last. */
export async function listDecided(db: Db, merchantId: string, groupId: string) {
  return await db
    .selectFrom('transfer')
    .select(['owner_id', 'network', 'key_ref', 'status', 'tx_id', 'failure_code', 'failure_message'])
    .select(['completed_at', 'lost_at'])
    .where('merchant_id', '=', merchantId)
    .where('group_id', '=', groupId)
    .where('status', 'in', ['succeeded', 'failed'])
    .orderBy('transfer_id')
    .execute();
}
