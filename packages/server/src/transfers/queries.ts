import { sql } from 'kysely';
import type { KeyRef, SignedTx } from '../chains/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { deferred, newId, prepared } from '../platform/db/index.ts';
import { type ChargeOrder, storedCharge } from './charges.ts';
import type { MemberVerdict, Verdict } from './states.ts';
import './tables.ts';

/** The key of the hot wallet, which pays others. */
export const HOT_KEY_REF: KeyRef = 'hot';

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

/**
 * Locks the groups' queued transfers, so that two runs cannot both make an attempt for one; without those that wait for
 * people (`holds.ts`).
 */
export async function lockQueued(
  tx: Tx,
  merchantId: string,
  groupIds: readonly string[],
  nowSeconds: number,
): Promise<TransferRow[]> {
  return await tx
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(inGroups(groupIds))
    .where('status', '=', 'queued')
    .where(
      sql<boolean>`not exists (select from transfer_hold h
        where h.merchant_id = transfer.merchant_id and h.group_id = transfer.group_id and h.until > ${nowSeconds})`,
    )
    .orderBy('transfer_id')
    .forUpdate()
    .execute();
}

export async function readLiveAttempts(db: Db, merchantId: string, groupIds: readonly string[]) {
  return await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(inGroups(groupIds))
    .where('status', 'in', ['reserved', 'signed', 'sent'])
    .orderBy('attempt_id')
    .execute();
}
export type AttemptRow = Awaited<ReturnType<typeof readLiveAttempts>>[number];

export interface NewAttempt {
  attemptId: string;
  sender: string;
  sequence: bigint | null;
  ordinal: bigint;
  previous: string | null;
  /** Transfers of one group and one key. */
  members: readonly TransferRow[];
}

/** Writes attempts of one network and token, and moves their transfers to `sending`. */
export async function insertAttempts(
  tx: Tx,
  attempts: readonly NewAttempt[],
  nowSeconds: number,
): Promise<void> {
  const first = attempts[0]?.members[0];
  if (first === undefined) return;
  const column = <T>(pick: (attempt: NewAttempt) => T) => attempts.map(pick);
  const bound = attempts.flatMap(({ attemptId, members }) =>
    members.map((member) => ({ attemptId, transferId: member.transfer_id })),
  );
  // An array of arrays has no unnest: the members are gathered from the pairs.
  await deferred`
    with bound as (
      select * from unnest(${bound.map((b) => b.attemptId)}::uuid[], ${bound.map((b) => b.transferId)}::uuid[])
        with ordinality as b (attempt_id, transfer_id, place)
    )
    insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, key_ref, sender, sequence, ordinal, previous_id,
                                  status, item_ids, created_at)
    select ${first.merchant_id}::uuid, a.attempt_id, a.group_id, ${first.network}, ${first.currency},
           a.key_ref, a.sender, a.sequence, a.ordinal, a.previous_id, 'reserved',
           (select array_agg(b.transfer_id order by b.place) from bound b where b.attempt_id = a.attempt_id),
           ${nowSeconds}::bigint
    from unnest(${column((a) => a.attemptId)}::uuid[], ${column((a) => a.members[0]?.group_id)}::uuid[], ${column((a) => a.members[0]?.key_ref)}::text[],
                ${column((a) => a.sender)}::text[], ${column((a) => a.sequence)}::bigint[],
                ${column((a) => a.ordinal)}::bigint[], ${column((a) => a.previous)}::uuid[])
      as a (attempt_id, group_id, key_ref, sender, sequence, ordinal, previous_id)`.execute(tx);
  await deferred`
    update transfer t set status = 'sending', attempt_id = b.attempt_id, tries = t.tries + 1
    from unnest(${bound.map((b) => b.attemptId)}::uuid[], ${bound.map((b) => b.transferId)}::uuid[])
      as b (attempt_id, transfer_id)
    where t.merchant_id = ${first.merchant_id} and t.transfer_id = b.transfer_id`.execute(tx);
}

/** Stores the signed bytes of reserved attempts. Stored bytes are never replaced. */
export async function storeSigned(
  tx: Tx,
  merchantId: string,
  list: readonly { attemptId: string; signed: SignedTx }[],
): Promise<void> {
  if (list.length === 0) return;
  const column = <T>(pick: (signed: SignedTx) => T) => list.map(({ signed }) => pick(signed));
  await deferred`
    update transfer_attempt t
    set status = 'signed', tx_id = s.tx_id, raw = s.raw, fee_limit = s.fee_limit, valid_until_height = s.height, valid_until_ms = s.time_ms
    from unnest(${list.map((entry) => entry.attemptId)}::uuid[], ${column((s) => s.txId)}::text[],
                ${column((s) => s.raw)}::text[], ${column((s) => s.feeLimit ?? null)}::numeric[], ${column((s) => s.validUntil?.height ?? null)}::bigint[],
                ${column((s) => s.validUntil?.timeMs ?? null)}::bigint[])
      as s (attempt_id, tx_id, raw, fee_limit, height, time_ms)
    where t.merchant_id = ${merchantId} and t.attempt_id = s.attempt_id and t.status = 'reserved'`.execute(
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
    update transfer_attempt set status = 'sent', sent_at = ${nowSeconds}::bigint
    where merchant_id = ${merchantId} and attempt_id = any(${attemptIds}::uuid[]) and status = 'signed'`.execute(
    tx,
  );
}

export interface AttemptOutcome {
  attempt: AttemptRow;
  verdict: Verdict;
  detail: string | null;
  /** The block that decided it; null where none did. */
  height: bigint | null;
  /** Native coin spent, where it is known. */
  fee: bigint | null;
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
  const column = <T>(pick: (closing: AttemptOutcome) => T) => closings.map(pick);
  const { rows } = await prepared<{ attempt_id: string }>`
    update transfer_attempt t set status = v.status, detail = v.detail, height = v.height, fee_native = v.fee, completed_at = ${nowSeconds}::bigint
    from unnest(${column((c) => c.attempt.attempt_id)}::uuid[], ${column((c) => c.verdict.attempt)}::text[],
                ${column((c) => c.detail)}::text[], ${column((c) => c.height)}::bigint[],
                ${column((c) => c.fee)}::numeric[])
      as v (attempt_id, status, detail, height, fee)
    where t.merchant_id = ${merchantId} and t.attempt_id = v.attempt_id
      and t.status in ('reserved', 'signed', 'sent')
    returning t.attempt_id`.execute(tx);
  const written = new Set(rows.map((row) => row.attempt_id));
  const closed = closings.filter(({ attempt }) => written.has(attempt.attempt_id));
  const outcomes = closed.flatMap(({ signed, verdict, paidBy }) =>
    verdict.members.map((member) => ({
      ...member,
      txId: paidBy.get(member.transferId)?.tx_id ?? signed?.txId ?? null,
    })),
  );
  await writeOutcomes(tx, merchantId, outcomes, nowSeconds);
  return closed;
}

/** A transfer's verdict and the transaction that decided it. */
export type TransferOutcome = MemberVerdict & { txId: string | null };

/** Writes the outcomes of open transfers; decided ones do not change. */
export async function writeOutcomes(
  tx: Tx,
  merchantId: string,
  outcomes: readonly TransferOutcome[],
  nowSeconds: number,
): Promise<void> {
  if (outcomes.length === 0) return;
  const column = <T>(pick: (outcome: TransferOutcome) => T) => outcomes.map(pick);
  await deferred`
    update transfer t
    set status = v.status, alone = t.alone or v.alone, attempt_id = null,
        tx_id = case when v.status = 'queued' then null else v.tx_id end,
        failure_code = v.code, failure_message = v.message,
        completed_at = case when v.status = 'queued' then null else ${nowSeconds}::bigint end
    from unnest(${column((o) => o.transferId)}::uuid[], ${column((o) => o.to)}::text[],
                ${column((o) => o.to === 'queued' && o.alone)}::boolean[], ${column((o) => o.txId)}::text[],
                ${column((o) => (o.to === 'failed' ? o.code : null))}::text[],
                ${column((o) => (o.to === 'failed' ? o.message : null))}::text[])
      as v (transfer_id, status, alone, tx_id, code, message)
    where t.merchant_id = ${merchantId} and t.transfer_id = v.transfer_id and t.status in ('queued', 'sending')`.execute(
    tx,
  );
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
  const column = <T>(pick: (order: TransferOrder) => T) => orders.map(pick);
  await deferred`
    insert into transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, place, network, currency, key_ref, address,
                          amount, memo, charge, status, created_at)
    select ${merchantId}::uuid, o.transfer_id, o.owner_type, o.owner_id, o.group_id, o.place, o.network, o.currency, o.key_ref, o.address,
           o.amount, o.memo, o.charge::jsonb, 'queued', ${nowSeconds}::bigint
    from unnest(${column(() => newId())}::uuid[], ${column((o) => o.ownerType)}::text[],
                ${column((o) => o.ownerId)}::uuid[], ${column((o) => o.groupId)}::uuid[],
                ${column((o) => o.place)}::integer[], ${column((o) => o.network)}::text[], ${column((o) => o.currency)}::text[],
                ${column((o) => o.keyRef ?? HOT_KEY_REF)}::text[], ${column((o) => o.address)}::text[], ${column((o) => o.amount)}::bigint[],
                ${column((o) => o.memo)}::text[],
                ${column((o) => (o.charge === undefined ? null : JSON.stringify(storedCharge(o.charge))))}::text[])
      as o (transfer_id, owner_type, owner_id, group_id, place, network, currency, key_ref, address, amount, memo, charge)`.execute(
    tx,
  );
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
