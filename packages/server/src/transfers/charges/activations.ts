import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Chain, Mandate, SignedPermit } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { ActivationFault, AwaitedMandate } from '../attempts/charge-readiness.ts';
import { SEND_JOB } from '../request-transfers.ts';
import { ACTIVATION_MOVES } from '../states.ts';
import { storedMandate, storedPermit } from './charges.ts';
import '../tables.ts';

// A payer's signed mandate is on the chain before it is charged. Who brings it there are movements of ours, in a group of its
// own. It ends once, by what a final block holds of it, or before anything was sent.

export interface ActivationOrder {
  /** Also the group of its movements; the job `mandate.decided` of it reports the end. */
  activationId: string;
  network: Network;
  mandate: Mandate;
  /** The payer's, hex. */
  signature: string;
  /** The approval, where the payer has signed that too. */
  permit?: SignedPermit;
}

/** Orders the activation of a mandate, in the transaction that keeps the mandate. Repeated calls order it once. */
export async function requestActivation(
  tx: Tx,
  merchantId: string,
  { activationId, network, mandate, signature, permit }: ActivationOrder,
  now: { seconds: number; realMs: number },
): Promise<void> {
  await tx
    .insertInto('mandate_activation')
    .values({
      merchant_id: merchantId,
      activation_id: activationId,
      network,
      currency: mandate.asset,
      mandate_id: mandate.mandateId,
      mandate: JSON.stringify(storedMandate(mandate)),
      signature,
      permit: permit === undefined ? null : JSON.stringify(storedPermit(permit)),
      status: 'open',
      created_at: now.seconds,
    })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'network', 'mandate_id']).doNothing())
    .execute();
  await enqueue(tx, [
    {
      merchantId,
      kind: SEND_JOB,
      uniqueKey: activationId,
      dueAtMs: now.realMs,
      followsClock: true,
      payload: { groupId: activationId },
    },
  ]);
}

const selectActivations = (db: Db, merchantId: string) =>
  db.selectFrom('mandate_activation').selectAll().where('merchant_id', '=', merchantId);

/** @returns undefined where these are groups of transfers: an activation has its group for itself */
export async function findActivationOf(db: Db, merchantId: string, groupIds: readonly string[]) {
  const [groupId, ...others] = groupIds;
  if (groupId === undefined || others.length > 0) return undefined;
  return await selectActivations(db, merchantId).where('activation_id', '=', groupId).executeTakeFirst();
}
export type ActivationRow = NonNullable<Awaited<ReturnType<typeof findActivationOf>>>;

/** @returns undefined where it has ended */
export async function lockOpenActivation(
  tx: Tx,
  merchantId: string,
  groupId: string,
): Promise<ActivationRow | undefined> {
  return await selectActivations(tx, merchantId)
    .where('activation_id', '=', groupId)
    .where('status', '=', 'open')
    .forUpdate()
    .executeTakeFirst();
}

/** An approval that the wallet has signed, and its token's number of it. */
export interface PermitKey {
  network: Network;
  currency: Asset;
  payer: string;
  nonce: bigint;
}

/** Of two mandates of a wallet that are taken at once the second waits here, and sees the first. */
export async function lockPermits(
  tx: Tx,
  merchantId: string,
  { payer }: Pick<PermitKey, 'payer'>,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`permit ${merchantId} ${payer}`}, 0))`.execute(
    tx,
  );
}

/** Whether a signed approval of the wallet with this number, or a later one, is on its way to the network. */
export async function isPermitUnderWay(
  db: Db,
  merchantId: string,
  { network, currency, payer, nonce }: PermitKey,
): Promise<boolean> {
  const { rows } = await sql`
    select from mandate_activation
    where merchant_id = ${merchantId} and network = ${network} and currency = ${currency} and status = 'open'
      and permit is not null and mandate ->> 'payer' = ${payer} and (permit ->> 'nonce')::numeric >= ${String(nonce)}::numeric
    limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Which of these mandates are on their way to the chain, by their ids. One whose signed approval came to nothing counts until its
 * payment method is revoked, which ends its charges.
 */
export async function findAwaited(
  db: Db,
  merchantId: string,
  { network, mandateIds }: { network: Network; mandateIds: readonly string[] },
): Promise<ReadonlyMap<string, AwaitedMandate>> {
  const rows = await db
    .selectFrom('mandate_activation')
    .select(['mandate_id', sql<boolean>`permit is not null`.as('has_permit')])
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where(sql<boolean>`(status = 'open' or fault = 'permit_expired')`)
    .where(sql<boolean>`mandate_id = any(${mandateIds}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.mandate_id, { hasPermit: row.has_permit }]));
}

/** What the payer has signed of a mandate, where its network keeps no terms: whoever signs a charge wants it. */
export async function findSignature(
  db: Db,
  merchantId: string,
  { network, capabilities }: Pick<Chain, 'network' | 'capabilities'>,
  { mandateId }: Pick<Mandate, 'mandateId'>,
): Promise<string | undefined> {
  if (capabilities.windowCap) return undefined;
  const row = await db
    .selectFrom('mandate_activation')
    .select('signature')
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('mandate_id', '=', mandateId)
    .executeTakeFirst();
  return row?.signature;
}

/** Notes that simulations of charges of these mandates succeed: their wallets allow enough, whatever is left afterwards. */
export async function noteSimulationSucceeded(
  tx: Tx,
  merchantId: string,
  { network, mandateIds }: { network: Network; mandateIds: readonly string[] },
): Promise<void> {
  await tx
    .updateTable('mandate_activation')
    .set({ charge_passed: true })
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', '=', 'open')
    .where('permit', 'is not', null)
    .where('charge_passed', '=', false)
    .where(sql<boolean>`mandate_id = any(${mandateIds}::text[])`)
    .execute();
}

/**
 * Remembers since when the wallet of a locked activation allows too little. The hour counts from there, not from the order: a
 * payer of USDT sets the approval to 0 on the way to a larger one, long after the first subscription was ordered.
 *
 * @returns for how many seconds
 */
export async function noteApproval(
  tx: Tx,
  { merchant_id, activation_id, unapproved_since: known }: ActivationRow,
  { isUnapproved, now }: { isUnapproved: boolean; now: number },
): Promise<number> {
  const since = isUnapproved ? Number(known ?? now) : null;
  if (since !== (known === null ? null : Number(known)))
    await tx
      .updateTable('mandate_activation')
      .set({ unapproved_since: since })
      .where('merchant_id', '=', merchant_id)
      .where('activation_id', '=', activation_id)
      .execute();
  return since === null ? 0 : now - since;
}

/** Ends a locked activation. */
export async function endActivation(
  tx: Tx,
  { merchant_id, activation_id, status }: ActivationRow,
  as: 'active' | ActivationFault,
  nowSeconds: number,
): Promise<void> {
  const next = as === 'active' ? 'active' : 'failed';
  ACTIVATION_MOVES.check(status, next);
  await tx
    .updateTable('mandate_activation')
    .set({ status: next, fault: as === 'active' ? null : as, completed_at: nowSeconds })
    .where('merchant_id', '=', merchant_id)
    .where('activation_id', '=', activation_id)
    .execute();
}

export interface EndedActivation {
  status: 'active' | 'failed';
  fault: ActivationFault | null;
  currency: Asset;
}

/** @returns undefined while it is under way */
export async function findEndedActivation(
  db: Db,
  merchantId: string,
  activationId: string,
): Promise<EndedActivation | undefined> {
  const row = await findActivationOf(db, merchantId, [activationId]);
  if (row === undefined || row.status === 'open') return undefined;
  const { status, fault, currency } = row;
  return { status, fault, currency };
}
