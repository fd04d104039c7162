import type { Network } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import {
  type BlockReason,
  depositIndexOf,
  type KeyRef,
  type SigningBlocked,
} from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { type AttemptRow, TANK_KEY_REF, type TransferRow } from '../queries.ts';
import { SEND_JOB } from '../request-transfers.ts';
import type { StepContext } from '../send-context.ts';
import { blockSeconds } from '../states.ts';
import { isClosing } from '../wallets/present-wallet.ts';
import { ofWallet } from '../wallets/wallet-queries.ts';
import { abandonWithTransfers, lockWalletOf } from './abandon-attempt.ts';
import { isFill, paysNobody } from './movements.ts';

// A signer that wants people to act signs nothing, and the attempt keeps its sequence: asked again, it may sign. But as soon
// as another transaction of the wallet has a later sequence, that one waits too. The attempt then gives its sequence to an
// empty payment, and its transfers wait without one, for longer each time, or until somebody releases them. Where wallets have no
// sequence nothing waits behind it: the attempt stays reserved, and the signer is asked for it again after the same pauses.
//
// Two kinds of attempts without a sequence are abandoned where the signer refuses them for a reason of `GIVES_WAY`, or for their fee, and
// their transfers are queued again. Charges: a reserved one cannot be cancelled when its payer revokes or its merchant is suspended. The next
// try takes the attempt up again (`given-way.ts`). Sweeps of deposit addresses: a transfer that is being sent keeps the loan of its address;
// one that is queued gives it back after a day.

/** An attempt that the signer does not sign before people have acted. */
export interface BlockedAttempt {
  attempt: AttemptRow;
  blocked: SigningBlocked;
}

/** For the others the signer would refuse an empty payment as well, or the attempt is built anew. */
const GIVES_WAY: ReadonlySet<BlockReason> = new Set(['limit', 'policy', 'purpose', 'invalid_request']);

/** As with a sequence; a fee is at its ceiling for a day, perhaps. */
const isGivingWay = ({ attempt, blocked }: BlockedAttempt, transfers: readonly TransferRow[]) =>
  attempt.sequence === null &&
  (GIVES_WAY.has(blocked.reason) || blocked.reason === 'fee') &&
  (depositIndexOf(attempt.key_ref) !== null ||
    transfers.some(({ transfer_id: id, charge }) => charge !== null && attempt.item_ids.includes(id)));

/**
 * The gas tank is shared: what it does not sign for one merchant counts to what it may spend and give for all, and keeps a rotation from
 * going on.
 */
const isRefusedToTank = ({ attempt, blocked }: BlockedAttempt) =>
  attempt.key_ref === TANK_KEY_REF && paysNobody(attempt) && GIVES_WAY.has(blocked.reason);

/** Twice the longest hold: the refusal before is within it. */
const REFUSALS_SECONDS = 7_200;

/**
 * Lets blocked attempts give up their sequences where others wait behind them, or a rotation waits for their wallet; movements of the gas
 * tank, and charges and sweeps without a sequence, at once. Others without one pause.
 */
export async function stepAside(
  tx: Tx,
  context: StepContext,
  list: readonly BlockedAttempt[],
  transfers: readonly TransferRow[],
): Promise<void> {
  for (const { attempt, blocked } of list) {
    const isAtOnce = isRefusedToTank({ attempt, blocked }) || isGivingWay({ attempt, blocked }, transfers);
    // Without a sequence nothing waits behind it, and what has no stored bytes was never sent.
    if (isFill(attempt) || (attempt.sequence === null && !isAtOnce)) continue;
    await lockWalletOf(tx, attempt);
    const isInTheWay = isAtOnce || (await isAnyBehind(tx, attempt));
    if (!isInTheWay && !(await isClosing(tx, attempt))) continue;
    const transferIds = paysNobody(attempt) ? [] : attempt.item_ids;
    const verdicts = transferIds.map((transferId) => ({ transferId, to: 'queued', alone: false }) as const);
    await abandonWithTransfers(tx, context, { attempt, verdicts, detail: blocked.message }, transfers);
    await block(tx, context, { attempt, blocked, transfers });
  }
  await pause(tx, context, list);
}

/** These pass without anybody who says so to us: a tank is filled, fees fall, a process notices a rotation, a freeze ends. */
const PASSES_ALONE: ReadonlySet<BlockReason> = new Set(['tank', 'fee', 'epoch', 'journal', 'frozen']);

async function pause(
  tx: Tx,
  { merchant: { merchantId }, nowSeconds }: StepContext,
  list: readonly BlockedAttempt[],
): Promise<void> {
  const ids = list
    .filter((one) => one.attempt.sequence === null && !PASSES_ALONE.has(one.blocked.reason))
    .filter((one) => !isRefusedToTank(one))
    .map(({ attempt }) => attempt.attempt_id);
  if (ids.length === 0) return;
  await sql`
    update transfer_attempt set refused_at = ${nowSeconds}, share_at = null
    where merchant_id = ${merchantId} and attempt_id = any(${ids}::uuid[]) and status = 'reserved'`.execute(
    tx,
  );
}

/** Only signed ones wait: a reserved one may be blocked as well. Behind the gas tank's, those of any merchant. */
async function isAnyBehind(
  tx: Tx,
  { merchant_id, network, sender, sequence, key_ref }: AttemptRow,
): Promise<boolean> {
  const { rows } = await sql<{ is_behind: boolean }>`
    select exists (
      select from transfer_attempt
      where ${ofWallet({ merchant_id, network, sender, key_ref })} and sequence > ${sequence}
        and status in ('signed', 'sent')
    ) as is_behind`.execute(tx);
  return rows[0]?.is_behind ?? true;
}

async function block(
  tx: Tx,
  { nowSeconds }: StepContext,
  { attempt, blocked, transfers }: BlockedAttempt & { transfers: readonly TransferRow[] },
): Promise<void> {
  const until = nowSeconds + blockSeconds(await waitedFor(tx, { attempt, transfers, nowSeconds }));
  const again = attempt.sequence === null && !paysNobody(attempt) ? attempt.attempt_id : null;
  // A hold that goes on begins where it began: by that what it was given for is found, in `listHeldKeys`.
  await sql`
    insert into transfer_hold (merchant_id, group_id, reason, held_at, until, attempt_id)
    values (${attempt.merchant_id}, ${attempt.group_id}, ${blocked.reason}, ${nowSeconds}, ${until}, ${again}::uuid)
    on conflict (merchant_id, group_id) do update set reason = excluded.reason, until = excluded.until, attempt_id = excluded.attempt_id,
      held_at = case when transfer_hold.until > excluded.held_at then least(transfer_hold.held_at, excluded.held_at)
        else excluded.held_at end`.execute(tx);
}

async function waitedFor(
  tx: Tx,
  {
    attempt,
    transfers,
    nowSeconds,
  }: { attempt: AttemptRow; transfers: readonly TransferRow[]; nowSeconds: number },
): Promise<number> {
  // Each try costs the tank a fee, whatever waits for it.
  if (attempt.key_ref === TANK_KEY_REF && paysNobody(attempt))
    return nowSeconds - (await firstRefusedAt(tx, attempt, { what: isRefusedMovement, nowSeconds }));
  // A sweep may have waited for long for other reasons, and a refusal that passes must not hold it up for as long again.
  if (depositIndexOf(attempt.key_ref) !== null)
    return nowSeconds - (await firstRefusedAt(tx, attempt, { what: isRefusedSweep, nowSeconds }));
  // While its wallet is closed a merchant pays nobody, so what that waits for is asked for each minute.
  if (await isClosing(tx, attempt)) return 0;
  const own = transfers.filter((transfer) => transfer.group_id === attempt.group_id);
  const since =
    own.length > 0
      ? Math.min(...own.map((transfer) => Number(transfer.created_at)), nowSeconds)
      : await firstAttemptAt(tx, attempt);
  return nowSeconds - since;
}

/** What the gas tank was to do, and was never sent. */
const isRefusedMovement = sql<boolean>`
  a.key_ref = 'tank' and a.movement is not null and a.status = 'failed' and a.height is null`;

/** What a deposit address was to send itself, and never did. */
const isRefusedSweep = sql<boolean>`
  a.key_ref like 'deposit:%' and a.status = 'failed' and a.height is null`;

/** Since when the signer refuses such attempts of the merchant: after a while without a refusal it begins anew. */
async function firstRefusedAt(
  tx: Tx,
  { merchant_id, network }: AttemptRow,
  { what, nowSeconds }: { what: RawBuilder<boolean>; nowSeconds: number },
): Promise<number> {
  const { rows } = await sql<{ at: bigint | null }>`
    select min(a.completed_at) as at from transfer_attempt a
    where a.merchant_id = ${merchant_id} and a.network = ${network} and ${what}
      and a.completed_at > ${nowSeconds - REFUSALS_SECONDS} and a.completed_at <= ${nowSeconds}`.execute(tx);
  return Number(rows[0]?.at ?? nowSeconds);
}

/** Since when a group without transfers tries: the first attempt after the last one of which a block has decided. */
async function firstAttemptAt(tx: Tx, { merchant_id, group_id, created_at }: AttemptRow): Promise<number> {
  const { rows } = await sql<{ at: bigint | null }>`
    select min(created_at) as at from transfer_attempt
    where merchant_id = ${merchant_id} and group_id = ${group_id} and created_at >= coalesce((
      select max(completed_at) from transfer_attempt
      where merchant_id = ${merchant_id} and group_id = ${group_id} and height is not null), 0)`.execute(tx);
  return Number(rows[0]?.at ?? created_at);
}

/** A hold that began in the future was written by a clock that ran ahead: it must not last until then. */
const isHeldAt = (nowSeconds: number) => sql<boolean>`h.held_at <= ${nowSeconds} and h.until > ${nowSeconds}`;

/** Whether a group waits until the signer is asked again. */
export async function isBlocked(
  tx: Tx,
  { merchant: { merchantId }, nowSeconds }: Pick<StepContext, 'merchant' | 'nowSeconds'>,
  groupId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from transfer_hold h
    where h.merchant_id = ${merchantId} and h.group_id = ${groupId} and ${isHeldAt(nowSeconds)}`.execute(tx);
  return rows.length > 0;
}

/**
 * Whether the signer has lately refused something that the gas tank was to do for a merchant, whichever group wanted it: the others would
 * have the same refused, and each try takes a sequence of the tank. Ask under the tank's lock, before it moves anything.
 *
 * @param isForDeposit it is to give a deposit address coins or energy: while the signer refuses another sweep, that is wasted too, and takes from
 *   what the merchant's payouts may get in a day
 */
export async function isTankHeld(
  tx: Tx,
  {
    merchantId,
    network,
    nowSeconds,
    isForDeposit = false,
  }: { merchantId: string; network: Network; nowSeconds: number; isForDeposit?: boolean },
): Promise<boolean> {
  const refused = isForDeposit ? sql`(${isRefusedMovement} or ${isRefusedSweep})` : isRefusedMovement;
  const { rows } = await sql`
    select from transfer_hold h
    join transfer_attempt a on a.merchant_id = h.merchant_id and a.group_id = h.group_id
    where h.merchant_id = ${merchantId} and ${isHeldAt(nowSeconds)} and a.network = ${network} and ${refused}
      and a.completed_at >= h.held_at limit 1`.execute(tx);
  return rows.length > 0;
}

/**
 * The keys for which the signer has refused what such groups wait for. What it refuses to one wallet says nothing of another's: payments
 * that wait for approvals keep no ether from what is sent, and a refused top-up keeps no coins from leaving.
 */
export async function listHeldKeys(
  tx: Tx,
  { merchant: { merchantId }, nowSeconds }: Pick<StepContext, 'merchant' | 'nowSeconds'>,
  groupIds: readonly string[],
): Promise<ReadonlySet<KeyRef>> {
  const { rows } = await sql<{ key: KeyRef }>`
    select distinct a.key_ref as key from transfer_hold h
    join transfer_attempt a on a.merchant_id = h.merchant_id and a.group_id = h.group_id
    where h.merchant_id = ${merchantId} and h.group_id = any(${groupIds}::uuid[]) and ${isHeldAt(nowSeconds)}
      and a.status = 'failed' and a.height is null and a.completed_at >= h.held_at`.execute(tx);
  return new Set(rows.map(({ key }) => key));
}

/** Ends the wait of a group, and tries it again. */
export async function unblockGroup(
  tx: Tx,
  merchantId: string,
  groupId: string,
  nowMs: number,
): Promise<void> {
  await sql`delete from transfer_hold where merchant_id = ${merchantId} and group_id = ${groupId}`.execute(
    tx,
  );
  await sql`
    update transfer_attempt set refused_at = null
    where merchant_id = ${merchantId} and group_id = ${groupId} and status = 'reserved' and refused_at is not null`.execute(
    tx,
  );
  const { rows } = await sql<{ is_open: boolean }>`
    select exists (
      select from transfer where merchant_id = ${merchantId} and group_id = ${groupId} and status in ('queued', 'sending')
    ) as is_open`.execute(tx);
  if (rows[0]?.is_open !== true) return;
  const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs: nowMs, payload: { groupId } };
  await enqueue(tx, [{ ...job, followsClock: true }]);
}
