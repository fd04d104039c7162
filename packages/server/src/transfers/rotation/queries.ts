import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { RotatedKeyRef } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { ROTATION_MOVES, type RotationStatus } from '../states.ts';
import '../tables.ts';
import type { Wallet } from '../wallets/wallet-queries.ts';
import { CLOSING_ALARM_SECONDS, rotationJob } from './rotation-job.ts';

// A rotation closes a hot wallet (`closing`), and once nothing of the merchant is on its way there, another takes its place in
// one transaction (`moving`). Then the old one hands over what it holds and what still arrives, until nothing does (`done`).

interface MerchantNetwork {
  merchantId: string;
  network: Network;
}

const select = (db: Db, { merchantId, network }: MerchantNetwork) =>
  db
    .selectFrom('wallet_rotation')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network);

/** The rotation that is not over; undefined: there is none. */
export async function findOpenRotation(db: Db, of: MerchantNetwork) {
  return await select(db, of).where('completed_at', 'is', null).executeTakeFirst();
}
export type RotationRow = NonNullable<Awaited<ReturnType<typeof findOpenRotation>>>;

/** The newest rotation that is over; undefined: there is none. */
export async function findLastRotation(db: Db, of: MerchantNetwork): Promise<RotationRow | undefined> {
  return await select(db, of).where('status', '=', 'done').orderBy('epoch', 'desc').executeTakeFirst();
}

/** The rotation that leads to that epoch. */
export async function findRotation(
  db: Db,
  of: MerchantNetwork,
  epoch: number,
): Promise<RotationRow | undefined> {
  return await select(db, of).where('epoch', '=', epoch).executeTakeFirst();
}

/** Locks the merchant's account, which all that reserves transactions shares. @returns its epoch */
async function lockAccount(tx: Tx, { merchantId, network }: MerchantNetwork): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`
    select epoch from chain_account where merchant_id = ${merchantId} and network = ${network} for update`.execute(
    tx,
  );
  const [row] = rows;
  if (row === undefined) throw new Fail('conflict', `The merchant has no account on ${network}.`);
  return row.epoch;
}

/**
 * Closes the present hot wallet to new work; a rotation to that epoch that is open goes on.
 *
 * @param next the epoch that a person has confirmed; `nowSeconds` is the merchant's time, `nowMs` real time
 * @throws Fail `conflict` where another run has rotated since
 */
export async function closeWallet(
  tx: Tx,
  of: MerchantNetwork,
  { next, nowSeconds, nowMs }: { next: number; nowSeconds: number; nowMs: number },
): Promise<void> {
  const epoch = await lockAccount(tx, of);
  const open = await findOpenRotation(tx, of);
  if (next !== (open?.epoch ?? epoch + 1))
    throw new Fail('conflict', 'The wallet was rotated meanwhile: nothing was begun. Look with --dry-run.');
  if (open !== undefined) return;
  await tx
    .insertInto('wallet_rotation')
    .values({
      merchant_id: of.merchantId,
      rotation_id: newId(),
      network: of.network,
      epoch: next,
      status: 'closing',
      created_at: nowSeconds,
    })
    .execute();
  // Somebody is told where the command ends here.
  await enqueue(tx, [rotationJob(of.merchantId, of.network, nowMs + CLOSING_ALARM_SECONDS * 1_000)]);
}

/**
 * Keeps a rotation from being cancelled until `tx` is over: meanwhile the signer is told.
 *
 * @throws Fail `conflict` where it was cancelled
 */
export async function keepOpen(tx: Tx, of: MerchantNetwork, epoch: number): Promise<void> {
  await lockAccount(tx, of);
  const open = await findOpenRotation(tx, of);
  if (open?.epoch !== epoch) throw new Fail('conflict', 'The rotation was cancelled meanwhile.');
}

/**
 * Opens a closed wallet to new work again, as if nothing had been begun.
 *
 * @param epochOfSigner reads the signer's epoch of the account: once that is the next one there is no way back
 * @throws Fail `conflict` where there is none
 */
export async function reopenWallet(
  tx: Tx,
  of: MerchantNetwork,
  epochOfSigner: () => Promise<number>,
): Promise<void> {
  const epoch = await lockAccount(tx, of);
  const open = await findOpenRotation(tx, of);
  if (open?.status !== 'closing')
    throw new Fail('conflict', 'No wallet is being closed: there is nothing to cancel.');
  if ((await epochOfSigner()) !== epoch)
    throw new Fail('conflict', 'The signer has begun the next wallet: run florin signer rotate to its end.');
  await tx
    .deleteFrom('wallet_rotation')
    .where('merchant_id', '=', open.merchant_id)
    .where('rotation_id', '=', open.rotation_id)
    .where('status', '=', 'closing')
    .execute();
}

/**
 * Transactions of a merchant that are not over: undecided ones, and those that a reorganisation has taken back. What rotated wallets have
 * sent, and what the gas tank has sent to them, does not count: it brings coins to wallets that the next rotation empties, and whoever has
 * an old key can keep it from ever coming into a block, or have more of it sent.
 */
export async function countOpenTransactions(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from transfer_attempt
    where merchant_id = ${merchantId} and network = ${network}
      and (status in ('reserved', 'signed', 'sent') or status = 'succeeded' and gone_at is not null)
      and not (status = 'sent' and (key_ref like 'hot:%'
        or coalesce(movement ->> 'kind' = 'gas' and movement ->> 'to' like 'hot:%', false)))`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Puts the next hot wallet in the place of a closed one. Whatever reserves a transaction afterwards does it for the new one.
 *
 * @param hot its address
 * @returns false while something of the merchant is on its way; true also where it was done before
 */
export async function switchWallet(
  tx: Tx,
  of: MerchantNetwork,
  { hot, nowSeconds }: { hot: string; nowSeconds: number },
): Promise<boolean> {
  await lockAccount(tx, of);
  const open = await findOpenRotation(tx, of);
  if (open?.status !== 'closing') return true;
  if ((await countOpenTransactions(tx, of)) > 0) return false;
  await moveOn(tx, open, 'moving', nowSeconds);
  await tx
    .updateTable('chain_account')
    .set({ epoch: open.epoch })
    .where('merchant_id', '=', of.merchantId)
    .where('network', '=', of.network)
    .execute();
  // Sweeps that wait go to whatever hot wallet there is when they are sent.
  await sql`
    update transfer set address = ${hot}
    where merchant_id = ${of.merchantId} and network = ${of.network} and status = 'queued' and owner_type = 'sweep'`.execute(
    tx,
  );
  return true;
}

/** Ends a rotation whose wallets are empty for good. */
export async function endRotation(tx: Tx, rotation: RotationRow, nowSeconds: number): Promise<void> {
  await moveOn(tx, rotation, 'done', nowSeconds);
}

async function moveOn(
  tx: Tx,
  { merchant_id, rotation_id, status }: RotationRow,
  next: RotationStatus,
  nowSeconds: number,
): Promise<void> {
  ROTATION_MOVES.check(status, next);
  const at = next === 'done' ? { completed_at: nowSeconds } : { switched_at: nowSeconds };
  await tx
    .updateTable('wallet_rotation')
    .set({ status: next, ...at })
    .where('merchant_id', '=', merchant_id)
    .where('rotation_id', '=', rotation_id)
    .execute();
}

/**
 * What the gas tank has given to each rotated wallet, and to the owner, for a rotation, or may still, in wei, with the fees for it. Whoever
 * has the old key can make a top-up revert, or take so little each time that its fee is all that it costs: so what reverted in a block
 * counts, and so do fees.
 */
export async function sumGiven(
  db: Db,
  { merchant_id, rotation_id }: Pick<RotationRow, 'merchant_id' | 'rotation_id'>,
): Promise<ReadonlyMap<RotatedKeyRef | 'owner', bigint>> {
  const { rows } = await sql<{ to: RotatedKeyRef | 'owner'; given: string }>`
    select movement ->> 'to' as "to", sum((movement ->> 'amount')::numeric + coalesce(fee_native, fee_limit, 0))::text as given
    from transfer_attempt
    where merchant_id = ${merchant_id} and group_id = ${rotation_id} and status <> 'dead'
      and (status <> 'failed' or height is not null)
      and movement ->> 'kind' = 'gas' and movement ->> 'to' is not null
    group by 1`.execute(db);
  return new Map(rows.map(({ to, given }) => [to, BigInt(given)]));
}

/**
 * Tokens of rotated wallets, and their ether (`asset` null), whose moves have come to nothing since the last one that did not: they reverted,
 * or lost their sequence to whoever has the old key.
 */
export async function listFailedMoves(db: Db, { merchant_id, rotation_id }: RotationRow) {
  const { rows } = await sql<{ sender: string; asset: Asset | null; failures: number; lastAt: bigint }>`
    with moves as (
      select sender, movement ->> 'asset' as asset, status = 'succeeded' as did_move, completed_at from transfer_attempt
      where merchant_id = ${merchant_id} and group_id = ${rotation_id} and movement ->> 'kind' = 'move'
        and height is not null and status in ('failed', 'dead', 'succeeded')
    )
    select sender, asset, count(*)::int as failures, max(completed_at) as "lastAt" from moves m
    where not did_move and completed_at > coalesce((
      select max(s.completed_at) from moves s
      where s.did_move and s.sender = m.sender and s.asset is not distinct from m.asset), 0)
    group by 1, 2`.execute(db);
  return rows;
}

/** An attempt that is not over, with the token that it moves. */
export interface OpenMovement {
  attemptId: string;
  sender: string;
  sequence: bigint | null;
  /** Null: it moves ether, or nothing. */
  asset: Asset | null;
  isMove: boolean;
  /** The most that it can still take from its wallet, in wei; null: it is not sent yet. */
  cost: bigint | null;
  createdAt: bigint;
  /** When its newest version was sent. */
  sentAt: bigint | null;
  /** Whom the gas tank tops up. */
  gasTo: string | null;
  /** The gas tank's, for an earlier rotation: this one does not wait for it. */
  isEarlier: boolean;
}

/** Attempts of a rotation that are not over, and those of, and for, rotated wallets that an earlier rotation has left. */
export async function listOpenMovements(
  db: Db,
  { merchant_id, rotation_id, network }: Pick<RotationRow, 'merchant_id' | 'rotation_id' | 'network'>,
): Promise<OpenMovement[]> {
  const { rows } = await sql<Omit<OpenMovement, 'cost'> & { cost: string | null }>`
    select attempt_id as "attemptId", sender, sequence, movement ->> 'asset' as asset, sent_at as "sentAt", created_at as "createdAt",
      case when movement ->> 'kind' = 'gas' then movement ->> 'to' end as "gasTo",
      key_ref = 'tank' and group_id <> ${rotation_id} as "isEarlier", coalesce(movement ->> 'kind' = 'move', false) as "isMove",
      case when status = 'sent' then (fee_limit + case when movement ->> 'kind' = 'move' and movement ->> 'asset' is null
        and gap_raw is null then (movement ->> 'amount')::numeric else 0 end)::text end as cost
    from transfer_attempt
    where merchant_id = ${merchant_id} and network = ${network} and status in ('reserved', 'signed', 'sent')
      and (group_id = ${rotation_id} or key_ref like 'hot:%'
        or key_ref = 'tank' and movement ->> 'kind' = 'gas' and movement ->> 'to' like 'hot:%')`.execute(db);
  return rows.map((row) => ({ ...row, cost: row.cost === null ? null : BigInt(row.cost) }));
}

/** Whether ether for a rotated wallet is on its way: the gas tank's sequence for it was not used when `tank` was read. */
export async function isGettingGas(
  tx: Tx,
  { merchant_id, rotation_id }: Pick<RotationRow, 'merchant_id' | 'rotation_id'>,
  { to, tank }: { to: RotatedKeyRef; tank: Wallet & { chainNext: bigint } },
): Promise<boolean> {
  const { rows } = await sql`
    select from transfer_attempt
    where merchant_id = ${merchant_id} and group_id = ${rotation_id} and sender = ${tank.sender} and sequence >= ${tank.chainNext}
      and status in ('reserved', 'signed', 'sent') and movement ->> 'kind' = 'gas' and movement ->> 'to' = ${to}
    limit 1`.execute(tx);
  return rows.length > 0;
}
