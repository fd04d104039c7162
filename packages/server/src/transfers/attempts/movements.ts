import type { Asset } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { KeyRef, Movement } from '../../chains/port/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { mandateOf, permitOf, storedMandate, storedPermit } from '../charges/charges.ts';
import type { AttemptRow } from '../queries.ts';
import type { StoredMovement } from '../tables.ts';
import { lockWallet, takeNumbers, type Wallet } from '../wallets/wallet-queries.ts';
import type { MovementsUnderWay } from './readiness.ts';

// What the service moves for itself (ether for a hot wallet, an allowance, a contract) is an attempt without transfers: it
// takes a sequence, is stored, sent and watched like a payment, in the group that needs it.

/** An attempt that pays nobody: its item is itself. */
export const paysNobody = (attempt: Pick<AttemptRow, 'item_ids' | 'attempt_id'>) =>
  attempt.item_ids[0] === attempt.attempt_id;

/** An attempt that only uses up the sequence of an abandoned one. */
export const isFill = (attempt: Pick<AttemptRow, 'item_ids' | 'attempt_id' | 'movement'>) =>
  paysNobody(attempt) && attempt.movement === null;

/** The movement of an attempt that pays nobody. */
export function movementOf({ movement }: Pick<AttemptRow, 'movement'>): Movement {
  if (movement === null) return { kind: 'fill' };
  if ('amount' in movement) return { ...movement, amount: BigInt(movement.amount) };
  if ('staked' in movement) return { ...movement, staked: BigInt(movement.staked) };
  if (!('mandate' in movement)) return movement;
  const { permit, ...rest } = movement;
  const mandate = mandateOf(movement.mandate);
  return { ...rest, mandate, ...(permit === undefined ? {} : { permit: permitOf(permit) }) };
}

function storedMovement(movement: Exclude<Movement, { kind: 'fill' }>): StoredMovement {
  if ('amount' in movement) return { ...movement, amount: String(movement.amount) };
  if ('staked' in movement) return { ...movement, staked: String(movement.staked) };
  if (!('mandate' in movement)) return movement;
  const { permit, ...rest } = movement;
  const mandate = storedMandate(movement.mandate);
  return { ...rest, mandate, ...(permit === undefined ? {} : { permit: storedPermit(permit) }) };
}

export interface MovementOrder {
  merchantId: string;
  groupId: string;
  /** Of the group: an attempt has one. */
  currency: Asset;
  keyRef: KeyRef;
  wallet: Wallet;
  movement: Exclude<Movement, { kind: 'fill' }>;
}

/** Reserves an attempt for a movement, under the lock of its wallet. */
export async function reserveMovement(
  tx: Tx,
  { merchantId, groupId, currency, keyRef, wallet, movement }: MovementOrder,
  nowSeconds: number,
): Promise<void> {
  const next = await lockWallet(tx, wallet);
  const attemptId = newId();
  const [numbers] = await takeNumbers(tx, wallet, { next, attemptIds: [attemptId] });
  if (numbers === undefined) throw new Error('an attempt takes numbers');
  await tx
    .insertInto('transfer_attempt')
    .values({
      merchant_id: merchantId,
      attempt_id: attemptId,
      group_id: groupId,
      network: wallet.network,
      currency,
      key_ref: keyRef,
      sender: wallet.sender,
      sequence: numbers.sequence,
      ordinal: numbers.ordinal,
      previous_id: numbers.previous,
      status: 'reserved',
      item_ids: [attemptId],
      movement: JSON.stringify(storedMovement(movement)),
      created_at: nowSeconds,
    })
    .execute();
}

/** Where a network has no sequences everything that is not decided counts, also what is in a block: that costs a wait of a minute. */
const notInBlock = ({ chainNext }: Pick<Wallet, 'chainNext'>) =>
  chainNext === null ? sql`true` : sql`sequence >= ${chainNext}`;

/** What was decided since the coins were read: they may lack it, and nobody counts it as open any more. */
const decidedSince = ({ chainNext, asOf }: Wallet) =>
  chainNext === null && asOf !== undefined
    ? sql`status in ('succeeded', 'failed') and height > ${asOf}`
    : sql`false`;

/** What a transaction has cost, or may. Null: it has no price yet. */
const COST = sql`coalesce(fee_native, fee_limit)`;

/**
 * What is on its way from and to a merchant's wallet: transactions whose sequence the chain had not used when it was read
 * before everything else.
 */
export async function readUnderWay(
  tx: Tx,
  { merchantId, currency, hot, tank, gasTo }: UnderWayQuery,
): Promise<MovementsUnderWay> {
  const { rows } = await sql<{
    fees: string;
    unpriced: string;
    outgoing: string;
    approving: boolean;
    lending: boolean;
    gas: string;
  }>`
    with live as materialized (
      select * from transfer_attempt
      where merchant_id = ${merchantId} and network = ${hot.network} and status in ('reserved', 'signed', 'sent')
        and (sender = ${hot.sender} and ${notInBlock(hot)} or sender = ${tank.sender} and ${notInBlock(tank)})
      union all
      select * from transfer_attempt
      where merchant_id = ${merchantId} and network = ${hot.network} and sender in (${hot.sender}, ${tank.sender})
        and ${decidedSince(hot)}
    ), own as (select * from live where sender = ${hot.sender})
    select
      (select coalesce(sum(${COST}), 0)::text from own) as fees,
      (select count(*)::text from own where ${COST} is null) as unpriced,
      (select coalesce(sum(t.amount), 0)::text from own cross join unnest(own.item_ids) as item (id)
        join transfer t on t.merchant_id = ${merchantId} and t.transfer_id = item.id and t.charge is null
        where own.currency = ${currency}) as outgoing,
      exists (select from own where movement ->> 'kind' = 'approve' and movement ->> 'asset' = ${currency}) as approving,
      exists (select from live where movement ->> 'kind' in ('lend', 'unlend')
        and movement ->> 'to' = ${gasTo ?? null}::text) as lending,
      (select coalesce(sum((movement ->> 'amount')::numeric), 0)::text from live
        where movement ->> 'kind' = 'gas' and status <> 'failed' and movement ->> 'to' is not distinct from ${gasTo ?? null}::text) as gas`.execute(
    tx,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a sum has a row');
  return {
    fees: BigInt(row.fees),
    unpriced: BigInt(row.unpriced),
    outgoing: BigInt(row.outgoing),
    isApproving: row.approving,
    isLending: row.lending,
    gas: BigInt(row.gas),
  };
}

export interface UnderWayQuery {
  merchantId: string;
  currency: Asset;
  hot: Wallet;
  tank: Wallet;
  /** As `to` of the movement `gas` has it; undefined: the present hot wallet. */
  gasTo?: string | undefined;
}

/** Whether a contract of the merchant is on its way to the chain. */
export async function isDeploying(tx: Tx, merchantId: string, tank: Wallet): Promise<boolean> {
  return await isMoving(tx, merchantId, tank, sql`movement ->> 'kind' = 'deploy'`);
}

/** Whether the merchant's account at the collector is. */
export async function isOpeningAccount(tx: Tx, merchantId: string, tank: Wallet): Promise<boolean> {
  return await isMoving(tx, merchantId, tank, sql`movement ->> 'kind' = 'account'`);
}

/** Whether that mandate is. */
export async function isActivating(
  tx: Tx,
  merchantId: string,
  { hot, mandateId }: { hot: Wallet; mandateId: string },
): Promise<boolean> {
  const which = sql`movement ->> 'kind' = 'activate' and movement -> 'mandate' ->> 'mandateId' = ${mandateId}`;
  return await isMoving(tx, merchantId, hot, which);
}

/** How many transactions of a group that were to bring a mandate to the chain have reverted, or could not be built. */
export async function countFailedActivations(
  tx: Tx,
  merchantId: string,
  groupId: string,
): Promise<{ failures: number; unbuilt: number }> {
  const { rows } = await sql<{ failures: number; unbuilt: number }>`
    select count(height)::int as failures, count(*) filter (where height is null)::int as unbuilt
    from transfer_attempt
    where merchant_id = ${merchantId} and group_id = ${groupId} and status = 'failed'
      and movement ->> 'kind' = 'activate'`.execute(tx);
  return rows[0] ?? { failures: 0, unbuilt: 0 };
}

async function isMoving(
  tx: Tx,
  merchantId: string,
  { network, sender, chainNext }: Wallet,
  which: RawBuilder<unknown>,
): Promise<boolean> {
  const { rows } = await sql`
    select from transfer_attempt
    where merchant_id = ${merchantId} and network = ${network} and sender = ${sender}
      and ${notInBlock({ chainNext })} and status in ('reserved', 'signed', 'sent') and ${which} limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}

/** The wallets of a merchant to which the tank lends something, or takes it back. */
export async function listLoans(db: Db, merchantId: string, tank: Wallet): Promise<Set<KeyRef>> {
  const { network, sender } = tank;
  const { rows } = await sql<{ to: KeyRef }>`
    select movement ->> 'to' as to from transfer_attempt
    where merchant_id = ${merchantId} and network = ${network} and sender = ${sender} and ${notInBlock(tank)}
      and status in ('reserved', 'signed', 'sent') and movement ->> 'kind' in ('lend', 'unlend')
    union
    select movement ->> 'to' from transfer_attempt
    where merchant_id = ${merchantId} and network = ${network} and sender = ${sender}
      and ${decidedSince(tank)} and movement ->> 'kind' in ('lend', 'unlend')`.execute(db);
  return new Set(rows.map(({ to }) => to));
}

/** What transactions of the gas tank on their way can still take, for all merchants. */
export interface TankUse {
  /** The most that they can cost and give away. */
  tankSpending: bigint;
  /** Of that, what other wallets are given. */
  topUps: bigint;
  /** Stake that is lent. */
  lending: bigint;
}

export const NO_TANK_USE: TankUse = { tankSpending: 0n, topUps: 0n, lending: 0n };

/** @param dearest what one without a price is counted as */
export async function readTankUse(tx: Tx, tank: Wallet, dearest: bigint): Promise<TankUse> {
  const { rows } = await sql<{ spending: string; top_ups: string; lending: string }>`
    with live as (
      select * from transfer_attempt
      where key_ref = 'tank' and network = ${tank.network} and sender = ${tank.sender}
        and status in ('reserved', 'signed', 'sent') and ${notInBlock(tank)}
      union all
      select * from transfer_attempt
      where key_ref = 'tank' and network = ${tank.network} and sender = ${tank.sender} and ${decidedSince(tank)}
    )
    select
      coalesce(sum(coalesce(${COST}, ${String(dearest)}::numeric)
        + case when status = 'failed' then 0 else coalesce((movement ->> 'amount')::numeric, 0) end), 0)::text as spending,
      coalesce(sum((movement ->> 'amount')::numeric)
        filter (where movement ->> 'kind' = 'gas' and status in ('reserved', 'signed', 'sent')), 0)::text as top_ups,
      coalesce(sum((movement ->> 'staked')::numeric)
        filter (where movement ->> 'kind' = 'lend' and status <> 'failed'), 0)::text as lending
    from live`.execute(tx);
  const [row] = rows;
  return {
    tankSpending: BigInt(row?.spending ?? 0),
    topUps: BigInt(row?.top_ups ?? 0),
    lending: BigInt(row?.lending ?? 0),
  };
}

/** Of a tank that pays for all transactions, those that were reserved so long ago and are not signed wait for people: they are left out. */
export const RESERVED_SECONDS = 120;

/** As `tankSpending`, of a tank that pays for all transactions of the network, where they have no sequences. */
export async function sumPaidByTank(
  tx: Tx,
  { network, sender }: Pick<Wallet, 'network' | 'sender'>,
  { dearest, nowSeconds }: { dearest: bigint; nowSeconds: number },
): Promise<bigint> {
  const { rows } = await sql<{ spending: string }>`
    select coalesce(sum(coalesce(fee_limit, ${String(dearest)}::numeric)), 0)::text as spending
    from transfer_attempt
    where network = ${network} and fee_payer = ${sender} and status in ('reserved', 'signed', 'sent')
      and (status <> 'reserved' or coalesce(share_at, created_at) > ${nowSeconds - RESERVED_SECONDS})`.execute(
    tx,
  );
  return BigInt(rows[0]?.spending ?? 0);
}

const DAY_SECONDS = 86_400;

interface OfDay {
  merchantId: string;
  network: Wallet['network'];
  nowSeconds: number;
}

/**
 * In the words of the indexes by the time of completion: not the whole history is read under the lock that merchants share. What a clock has
 * completed that ran ahead counts too: less than a day would let a merchant have twice as much after it was set right.
 */
const isOpenOrOfDay = (nowSeconds: number) => sql<boolean>`(
  completed_at is null and status in ('reserved', 'signed', 'sent')
  or completed_at > ${nowSeconds - DAY_SECONDS} and completed_at <= ${nowSeconds + DAY_SECONDS} and status = 'succeeded')`;

export const topUpsOfDay = ({ merchantId, network, nowSeconds }: OfDay) => sql<{ total: string }>`
  select coalesce(sum((movement ->> 'amount')::numeric), 0)::text as total from transfer_attempt
  where merchant_id = ${merchantId} and network = ${network} and key_ref = 'tank' and movement ->> 'kind' = 'gas'
    and ${isOpenOrOfDay(nowSeconds)}`;

export const openingsOfDay = ({ merchantId, network, nowSeconds }: OfDay) => sql<{ total: string }>`
  select coalesce(sum(openings), 0)::text as total from transfer_attempt
  where merchant_id = ${merchantId} and network = ${network} and openings > 0 and ${isOpenOrOfDay(nowSeconds)}`;

/** What the gas tank has given a merchant's wallets in the last day, or may still. */
export async function sumTopUps(tx: Tx, of: OfDay): Promise<bigint> {
  const { rows } = await topUpsOfDay(of).execute(tx);
  return BigInt(rows[0]?.total ?? 0);
}

/** What a merchant's payments of the last day have put into accounts of recipients, or may still. */
export async function sumOpenings(tx: Tx, of: OfDay): Promise<bigint> {
  const { rows } = await openingsOfDay(of).execute(tx);
  return BigInt(rows[0]?.total ?? 0);
}
