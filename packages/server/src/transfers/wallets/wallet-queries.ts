import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Chain, KeyRef } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { deferred, listed, prepared } from '../../platform/db/statements/index.ts';
import { type AttemptRow, TANK_KEY_REF } from '../queries.ts';
import '../tables.ts';

/** The chain has seen sequences of a wallet that this database never assigned. */
export class WalletBehind extends Error {
  readonly network: Network;
  readonly sender: string;

  constructor(wallet: { network: Network; sender: string; ours: bigint; chains: bigint }) {
    const { network, sender, ours, chains } = wallet;
    super(`${network}: ${sender} is at sequence ${ours} here and at ${chains} on the chain`);
    this.network = network;
    this.sender = sender;
  }
}

/** A wallet as the chain reported it before the transaction that locks its row. */
export interface Wallet {
  network: Network;
  sender: string;
  /** Null where the network has no sequences. */
  chainNext: bigint | null;
  /** There: the block that its native coins are as of, or of a later one. */
  asOf?: bigint | undefined;
}

/** The next numbers of a locked wallet. */
export interface WalletCounts {
  sequence: bigint;
  /** Of its attempts; on every network, with sequences or without. */
  ordinal: bigint;
  /** The attempt with the ordinal before. */
  previous: string | null;
}

/**
 * Locks the wallet's row, which serialises all sends from it. A wallet that is new here begins at the chain's sequence.
 * Read that before this call: everything mined by then was assigned before.
 *
 * @returns its next numbers
 * @throws WalletBehind when the chain has seen sequences that were never assigned here
 */
export async function lockWallet(tx: Tx, { network, sender, chainNext }: Wallet): Promise<WalletCounts> {
  const { rows } = await prepared<WalletCounts>`
    insert into wallet as w (network, sender, next_sequence) values (${network}, ${sender}, ${chainNext ?? 0n})
    on conflict (sender, network) do update set next_sequence = w.next_sequence
    returning next_sequence as sequence, next_ordinal as ordinal, last_attempt_id as previous`.execute(tx);
  const next = rows[0] ?? { sequence: 0n, ordinal: 0n, previous: null };
  if (chainNext !== null && next.sequence < chainNext)
    throw new WalletBehind({ network, sender, ours: next.sequence, chains: chainNext });
  return next;
}

/** The numbers that an attempt takes of its wallet. */
export interface TakenNumbers extends Omit<WalletCounts, 'sequence'> {
  sequence: bigint | null;
}

/** Takes an ordinal and, where the network has sequences, a sequence of a locked wallet for each attempt. */
export async function takeNumbers(
  tx: Tx,
  { network, sender, chainNext }: Wallet,
  { next, attemptIds }: { next: WalletCounts; attemptIds: readonly string[] },
): Promise<TakenNumbers[]> {
  if (attemptIds.length === 0) return [];
  const isSequenced = chainNext !== null;
  const count = BigInt(attemptIds.length);
  await deferred`
    update wallet set next_sequence = ${next.sequence + (isSequenced ? count : 0n)}, next_ordinal = ${next.ordinal + count},
      last_attempt_id = ${attemptIds.at(-1) ?? null}
    where sender = ${sender} and network = ${network}`.execute(tx);
  const ordinals = attemptIds.map((_, i) => ({
    ordinal: next.ordinal + BigInt(i),
    previous: attemptIds[i - 1] ?? next.previous,
  }));
  if (!isSequenced) return ordinals.map((numbers) => ({ sequence: null, ...numbers }));
  const sequenceOf = (i: number) => next.sequence + BigInt(i);
  const taken = listed('u', attemptIds, {
    sequence: ['bigint', (_id, i) => sequenceOf(i)],
    attempt_id: ['uuid', (id) => id],
  });
  await deferred`
    insert into wallet_sequence (network, sender, sequence, attempt_id)
    select ${network}, ${sender}, u.* from ${taken}`.execute(tx);
  return ordinals.map((numbers, i) => ({ sequence: sequenceOf(i), ...numbers }));
}

/** Takes a wallet's next ordinal, for a transaction that has its sequence already. */
export async function takeOrdinal(
  tx: Tx,
  { network, sender }: Pick<Wallet, 'network' | 'sender'>,
  attemptId: string,
): Promise<Pick<WalletCounts, 'ordinal' | 'previous'>> {
  // The wallet has sent before, so the chain's sequence is not needed.
  const { ordinal, previous } = await lockWallet(tx, { network, sender, chainNext: null });
  await sql`
    update wallet set next_ordinal = ${ordinal + 1n}, last_attempt_id = ${attemptId}
    where sender = ${sender} and network = ${network}`.execute(tx);
  return { ordinal, previous };
}

/** The attempts of a wallet. All merchants share the gas tank; every other wallet is one merchant's. */
export function ofWallet({
  merchant_id,
  network,
  sender,
  key_ref,
}: Pick<AttemptRow, 'merchant_id' | 'network' | 'sender' | 'key_ref'>) {
  const isOwn = key_ref === TANK_KEY_REF ? sql`key_ref = 'tank'` : sql`merchant_id = ${merchant_id}`;
  return sql`${isOwn} and network = ${network} and sender = ${sender}`;
}

/**
 * Attempts of a wallet with a smaller ordinal than the given one, in order.
 *
 * @param from the first ordinal to list; null: the first one of the present history
 */
export async function attemptsBefore(
  db: Db,
  attempt: AttemptRow & { ordinal: bigint },
  from: bigint | null,
): Promise<string[]> {
  const { network, sender, ordinal } = attempt;
  const { rows } = await sql<{ attempt_id: string }>`
    with numbered as (
      select attempt_id, ordinal from transfer_attempt
      where ${ofWallet(attempt)} and ordinal is not null
      union all
      select gap_id, gap_ordinal from transfer_attempt
      where ${ofWallet(attempt)} and gap_ordinal is not null
    )
    select attempt_id from numbered
    where ordinal < ${ordinal} and ordinal >= coalesce(${from}::bigint,
      (select first_ordinal from wallet where sender = ${sender} and network = ${network}))
    order by ordinal`.execute(db);
  return rows.map((row) => row.attempt_id);
}

/** The first ordinal of a wallet in the present history. */
export async function readFirstOrdinal(
  db: Db,
  { network, sender }: Pick<Wallet, 'network' | 'sender'>,
): Promise<bigint> {
  const wallet = await db
    .selectFrom('wallet')
    .select('first_ordinal')
    .where('sender', '=', sender)
    .where('network', '=', network)
    .executeTakeFirst();
  return wallet?.first_ordinal ?? 0n;
}

/**
 * Starts every wallet's numbering for a new history at its next ordinal. Reserved attempts get new ordinals: the holder
 * knows the attempts it has signed by their ids.
 */
export async function restartNumbers(tx: Tx): Promise<void> {
  // The locks let the next statement see all earlier reservations, and block new ones until the commit.
  await sql`select from wallet order by sender, network for update`.execute(tx);
  // A payment that fills a gap gets a new ordinal when it is signed, under the same id.
  await sql`
    update transfer_attempt set gap_ordinal = null, gap_previous_id = null
    where gap_ordinal is not null and gap_raw is null`.execute(tx);
  await sql`
    with waiting as materialized (
      select merchant_id, attempt_id, network, sender,
        row_number() over (partition by network, sender order by ordinal) - 1 as position
      from transfer_attempt where status = 'reserved'
    ), numbered as (
      update transfer_attempt t set ordinal = w.next_ordinal + n.position, previous_id = null
      from waiting n join wallet w on w.sender = n.sender and w.network = n.network
      where t.merchant_id = n.merchant_id and t.attempt_id = n.attempt_id
    ), counted as materialized (
      select network, sender, count(*) as count from waiting group by 1, 2
    )
    update wallet w set first_ordinal = w.next_ordinal, last_attempt_id = null, next_ordinal = w.next_ordinal + coalesce(
      (select count from counted c where c.sender = w.sender and c.network = w.network), 0)`.execute(tx);
}

/**
 * Sum of what a locked wallet pays that its balance at block `height` does not show: undecided attempts, attempts decided
 * in a later block, and attempts whose block is gone and that may be mined again. A wallet belongs to one merchant.
 */
export async function sumOutgoing(
  tx: Tx,
  merchantId: string,
  of: { network: Network; sender: string; currency: Asset; height: bigint },
): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    with open as (
      select item_ids, 'sending' as status from transfer_attempt
      where merchant_id = ${merchantId} and network = ${of.network} and sender = ${of.sender}
        and currency = ${of.currency} and status in ('reserved', 'signed', 'sent')
      union all
      select item_ids, 'succeeded' from transfer_attempt
      where merchant_id = ${merchantId} and network = ${of.network} and sender = ${of.sender}
        and currency = ${of.currency} and status = 'succeeded' and (height > ${of.height} or gone_at is not null)
    )
    select coalesce(sum(t.amount), 0)::text as total
    from open o cross join unnest(o.item_ids) as item (transfer_id)
    join transfer t on t.merchant_id = ${merchantId} and t.transfer_id = item.transfer_id and t.status = o.status
      and t.charge is null and t.lost_at is null`.execute(tx);
  return BigInt(rows[0]?.total ?? 0);
}

/** Raises a wallet's next sequence to the chain's; never lowers it. @returns false where it was not behind */
export async function raiseSequence(
  db: Db,
  wallet: { network: Network; sender: string; chainNext: bigint },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('wallet')
    .set({ next_sequence: wallet.chainNext })
    .where('sender', '=', wallet.sender)
    .where('network', '=', wallet.network)
    .where('next_sequence', '<', wallet.chainNext)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The wallet of a key as the chain reports it now. Read it before the transaction that locks its row. @throws ChainUnavailable */
export async function readWallet(chain: Chain, keyRef: KeyRef): Promise<Wallet> {
  return await readWalletAt(chain, await chain.sender(keyRef));
}

/** As `readWallet`, of the address that it sends from. @throws ChainUnavailable */
export async function readWalletAt(chain: Chain, sender: string): Promise<Wallet> {
  const next = await chain.nextSequence(sender);
  return { network: chain.network, sender, chainNext: next === null ? null : BigInt(next) };
}
