import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { SignedTx } from '../chains/index.ts';
import type { Db, Tx } from '../platform/db.ts';
import { newId } from '../platform/ids.ts';
import type { MemberVerdict, Verdict } from './states.ts';
import './tables.ts';

export async function readTransfers(db: Db, merchantId: string, groupId: string) {
  return await db
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('group_id', '=', groupId)
    .orderBy('transfer_id')
    .execute();
}
export type TransferRow = Awaited<ReturnType<typeof readTransfers>>[number];

/** Locks the group's transfers, so that two runs cannot both make an attempt for one. */
export async function lockQueued(tx: Tx, merchantId: string, groupId: string): Promise<TransferRow[]> {
  return await tx
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('group_id', '=', groupId)
    .where('status', '=', 'queued')
    .orderBy('transfer_id')
    .forUpdate()
    .execute();
}

export async function readLiveAttempts(db: Db, merchantId: string, groupId: string) {
  return await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('group_id', '=', groupId)
    .where('status', 'in', ['reserved', 'signed', 'sent'])
    .orderBy('attempt_id')
    .execute();
}
export type AttemptRow = Awaited<ReturnType<typeof readLiveAttempts>>[number];

export async function hasWallet(db: Db, network: Network, sender: string): Promise<boolean> {
  const row = await db
    .selectFrom('wallet')
    .select('sender')
    .where('sender', '=', sender)
    .where('network', '=', network)
    .executeTakeFirst();
  return row !== undefined;
}

/** `first` is the chain's own count, for a wallet that we have not used yet. */
export async function registerWallet(db: Db, network: Network, sender: string, first: bigint): Promise<void> {
  await sql`
    insert into wallet (network, sender, next_sequence) values (${network}, ${sender}, ${first})
    on conflict (sender, network) do nothing`.execute(db);
}

/** Takes the wallet's next sequence for an attempt; the row lock orders everybody who sends from it. */
export async function takeSequence(
  tx: Tx,
  network: Network,
  sender: string,
  attemptId: string,
): Promise<bigint> {
  const { rows } = await sql<{ sequence: bigint }>`
    update wallet set next_sequence = next_sequence + 1
    where sender = ${sender} and network = ${network}
    returning next_sequence - 1 as sequence`.execute(tx);
  const sequence = rows[0]?.sequence;
  if (sequence === undefined) throw new Error(`the wallet ${sender} on ${network} is not registered`);
  await sql`
    insert into wallet_sequence (network, sender, sequence, attempt_id)
    values (${network}, ${sender}, ${sequence}, ${attemptId})`.execute(tx);
  return sequence;
}

export interface NewAttempt {
  merchantId: string;
  attemptId: string;
  sender: string;
  sequence: bigint | null;
  members: readonly TransferRow[];
  nowSeconds: number;
}

export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<void> {
  const [first] = attempt.members;
  if (first === undefined) return;
  const ids = attempt.members.map((member) => member.transfer_id);
  await sql`
    insert into transfer_attempt (merchant_id, attempt_id, group_id, network, currency, sender, sequence, status,
                                  item_ids, created_at)
    values (${attempt.merchantId}, ${attempt.attemptId}, ${first.group_id}, ${first.network}, ${first.currency},
            ${attempt.sender}, ${attempt.sequence}, 'reserved', ${ids}::uuid[], ${attempt.nowSeconds})`.execute(
    tx,
  );
  await sql`
    update transfer set status = 'sending', attempt_id = ${attempt.attemptId}, tries = tries + 1
    where merchant_id = ${attempt.merchantId} and transfer_id = any(${ids}::uuid[])`.execute(tx);
}

/** Stores the bytes. Only a reserved attempt takes them: bytes once stored are never replaced. */
export async function storeSigned(
  tx: Tx,
  merchantId: string,
  attemptId: string,
  signed: SignedTx,
): Promise<boolean> {
  const { validUntil } = signed;
  const { numUpdatedRows } = await tx
    .updateTable('transfer_attempt')
    .set({
      status: 'signed',
      tx_id: signed.txId,
      raw: signed.raw,
      valid_until_height: validUntil?.height === undefined ? null : BigInt(validUntil.height),
      valid_until_ms: validUntil?.timeMs === undefined ? null : BigInt(validUntil.timeMs),
    })
    .where('merchant_id', '=', merchantId)
    .where('attempt_id', '=', attemptId)
    .where('status', '=', 'reserved')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The stored bytes as the chain takes them. */
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

export async function markSent(tx: Tx, merchantId: string, attemptIds: readonly string[]): Promise<void> {
  await sql`
    update transfer_attempt set status = 'sent'
    where merchant_id = ${merchantId} and attempt_id = any(${attemptIds}::uuid[]) and status = 'signed'`.execute(
    tx,
  );
}

/** @returns false when the attempt was decided before */
export async function closeAttempt(
  tx: Tx,
  attempt: AttemptRow,
  verdict: Verdict & { detail: string | null; nowSeconds: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('transfer_attempt')
    .set({ status: verdict.attempt, detail: verdict.detail, completed_at: verdict.nowSeconds })
    .where('merchant_id', '=', attempt.merchant_id)
    .where('attempt_id', '=', attempt.attempt_id)
    .where('status', 'in', ['signed', 'sent'])
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await moveMembers(tx, attempt.merchant_id, verdict.members, {
    txId: attempt.tx_id,
    nowSeconds: verdict.nowSeconds,
  });
  return true;
}

/** Writes what became of transfers: all of an attempt, or those refused before one was made. */
export async function moveMembers(
  tx: Tx,
  merchantId: string,
  members: readonly MemberVerdict[],
  outcome: { txId: string | null; nowSeconds: number },
): Promise<void> {
  const column = <T>(pick: (member: MemberVerdict) => T) => members.map(pick);
  await sql`
    update transfer t
    set status = v.status, alone = t.alone or v.alone, attempt_id = null,
        tx_id = case when v.status = 'queued' then null else ${outcome.txId}::text end,
        failure_code = v.code, failure_message = v.message,
        completed_at = case when v.status = 'queued' then null else ${outcome.nowSeconds}::bigint end
    from unnest(${column((m) => m.transferId)}::uuid[], ${column((m) => m.to)}::text[],
                ${column((m) => m.to === 'queued' && m.alone)}::boolean[],
                ${column((m) => (m.to === 'failed' ? m.code : null))}::text[],
                ${column((m) => (m.to === 'failed' ? m.message : null))}::text[])
      as v (transfer_id, status, alone, code, message)
    where t.merchant_id = ${merchantId} and t.transfer_id = v.transfer_id`.execute(tx);
}

export interface TransferOrder {
  ownerType: string;
  ownerId: string;
  groupId: string;
  network: TransferRow['network'];
  currency: TransferRow['currency'];
  /** Canonical form. */
  address: string;
  amount: bigint;
  memo: string | null;
}

export async function insertTransfers(
  tx: Tx,
  merchantId: string,
  orders: readonly TransferOrder[],
  nowSeconds: number,
): Promise<void> {
  const column = <T>(pick: (order: TransferOrder) => T) => orders.map(pick);
  await sql`
    insert into transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, network, currency, address, amount,
                          memo, status, created_at)
    select ${merchantId}::uuid, o.transfer_id, o.owner_type, o.owner_id, o.group_id, o.network, o.currency, o.address,
           o.amount, o.memo, 'queued', ${nowSeconds}::bigint
    from unnest(${column(() => newId())}::uuid[], ${column((o) => o.ownerType)}::text[],
                ${column((o) => o.ownerId)}::uuid[], ${column((o) => o.groupId)}::uuid[],
                ${column((o) => o.network)}::text[], ${column((o) => o.currency)}::text[],
                ${column((o) => o.address)}::text[], ${column((o) => o.amount)}::bigint[],
                ${column((o) => o.memo)}::text[])
      as o (transfer_id, owner_type, owner_id, group_id, network, currency, address, amount, memo)`.execute(
    tx,
  );
}

/** What was decided of a group's transfers, for their owner to book. */
export async function listDecided(db: Db, merchantId: string, groupId: string) {
  return await db
    .selectFrom('transfer')
    .select(['owner_id', 'status', 'tx_id', 'failure_code', 'failure_message', 'completed_at'])
    .where('merchant_id', '=', merchantId)
    .where('group_id', '=', groupId)
    .where('status', 'in', ['succeeded', 'failed'])
    .execute();
}

/** Attempts that may be on the chain and are not decided, with what each of their items pays, in order. */
export async function listUnsettled(db: Db, merchantId: string, network: Network) {
  const attempts = await db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', 'in', ['signed', 'sent'])
    .execute();
  const ids = attempts.flatMap((attempt) => attempt.item_ids);
  const { rows } = await sql<{ transfer_id: string; amount: bigint }>`
    select transfer_id, amount from transfer
    where merchant_id = ${merchantId} and transfer_id = any(${ids}::uuid[])`.execute(db);
  const amounts = new Map(rows.map((row) => [row.transfer_id, row.amount]));
  return attempts.map((attempt) => ({
    ...attempt,
    amounts: attempt.item_ids.map((id) => amounts.get(id) ?? 0n),
  }));
}

/** Sum of the transfers that succeeded, booked by their owners or not yet. */
export async function paidByTransfers(
  db: Db,
  merchantId: string,
  { network, currency }: { network: Network; currency: AttemptRow['currency'] },
): Promise<bigint> {
  const { rows } = await sql<{ total: string | null }>`
    select sum(amount)::text as total from transfer
    where merchant_id = ${merchantId} and network = ${network} and currency = ${currency}
      and status = 'succeeded'`.execute(db);
  return BigInt(rows[0]?.total ?? 0);
}
