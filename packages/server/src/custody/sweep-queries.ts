import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { KeyRef } from '../chains/port/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { listed } from '../platform/db/statements/index.ts';
import { allocate, type Part, sumOf, type Unswept } from './allocate.ts';
import type { FailedSweeps } from './worth-sweeping.ts';

// A sweep moves the coins of a deposit address; its parts record which deposits these belong to. A sweep that is mined
// again after a reorganisation may have moved other deposits' coins: its parts are then reassigned.

interface MerchantNetwork {
  merchantId: string;
  network: Network;
}

/** A deposit address with credited coins of a token that belong to no sweep. */
export interface UnsweptAddress {
  address: string;
  currency: Asset;
  addressIndex: number;
  /** Seized coins at the same address; these are not swept. */
  seized: bigint;
  /** Credited and in no sweep, and since when the oldest of it. */
  amount: bigint;
  since: number;
  /** The newest block with a deposit: a node behind it shows too low a balance. */
  newest: bigint;
}

/** Coins of one token at one deposit address, claimed by a sweep. */
export interface SweptCoins {
  sweepId: string;
  currency: Asset;
  addressIndex: number;
  amount: bigint;
}

/**
 * The deposit address that a sweep's transfer leaves from: the sender of its attempt, or where the gas tank sends it, the one
 * with the number of its key.
 *
 * @param transfer, attempt their names in the statement
 */
export const sweptAddress = (transfer: string, attempt: string) => {
  const [t, a] = [sql.ref(transfer), sql.ref(attempt)];
  return sql`case when ${a}.key_ref = 'tank' then (
    select d.watch from deposit_address d
    where d.merchant_id = ${t}.merchant_id and d.network = ${t}.network
      and d.address_index = split_part(${t}.key_ref, ':', 2)::bigint
  ) else ${a}.sender end`;
};

/** Selects deposits that are not fully swept. */
const IS_UNSWEPT = sql`t.status = 'final' and t.swept_amount < t.amount and t.kind in ('counted', 'wrong_token')
  and t.lost_at is null and not t.pulled`;

/** The next addresses whose unswept amount reaches the minimum, ordered by address and currency. */
export async function listUnswept(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { minimum, after, limit }: { minimum: bigint; after: UnsweptAddress | undefined; limit: number },
): Promise<UnsweptAddress[]> {
  const { rows } = await sql<{
    address: string;
    currency: Asset;
    address_index: bigint;
    seized: string;
    amount: string;
    since: bigint;
    newest: bigint;
  }>`
    with worth as (
      select t.address, t.currency, min(t.payment_id::text)::uuid as payment_id,
        max(t.height) as newest, sum(t.amount - t.swept_amount)::text as amount, min(t.final_at) as since
      from payment_transaction t
      where t.merchant_id = ${merchantId} and t.network = ${network} and ${IS_UNSWEPT}
        and (t.address, t.currency) > (${after?.address ?? ''}::text, ${after?.currency ?? ''}::text)
      group by t.address, t.currency having sum(t.amount - t.swept_amount) >= ${minimum}
      order by t.address, t.currency limit ${limit}
    )
    select w.address, w.currency, w.newest, w.amount, w.since, d.address_index, (
      select coalesce(sum(s.amount), 0)::text from payment_transaction s
      where s.merchant_id = ${merchantId} and s.network = ${network} and s.payment_id = w.payment_id
        and s.address = w.address and s.currency = w.currency
        and s.kind = 'seized' and s.status = 'final' and s.lost_at is null
    ) as seized
    from worth w
    join payment_option o on o.merchant_id = ${merchantId} and o.payment_id = w.payment_id
      and o.network = ${network} and o.address = w.address
    join deposit_address d on d.merchant_id = ${merchantId} and d.network = ${network} and d.watch = o.watch
    order by w.address, w.currency`.execute(db);
  return rows.map((row) => ({
    address: row.address,
    currency: row.currency,
    addressIndex: Number(row.address_index),
    seized: BigInt(row.seized),
    amount: BigInt(row.amount),
    since: Number(row.since),
    newest: row.newest,
  }));
}

/** Sweeps from these keys that were mined and moved nothing of the token, since the last that did; absent: none. */
export async function listFailedSweeps(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { currency, keyRefs }: { currency: Asset; keyRefs: readonly KeyRef[] },
): Promise<ReadonlyMap<string, FailedSweeps>> {
  const { rows } = await sql<{ key_ref: string; count: bigint; last_at: bigint }>`
    select t.key_ref, count(*) as count, max(t.completed_at) as last_at from transfer t
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.key_ref <> 'hot'
      and t.key_ref = any(${keyRefs}::text[]) and t.currency = ${currency} and t.owner_type = 'sweep'
      and t.status = 'failed' and t.tx_id is not null
      and t.completed_at > coalesce((
        select max(s.completed_at) from transfer s
        where s.merchant_id = t.merchant_id and s.network = t.network and s.key_ref <> 'hot' and s.key_ref = t.key_ref
          and s.currency = t.currency and s.status = 'succeeded'), 0)
    group by t.key_ref`.execute(db);
  return new Map(
    rows.map(({ key_ref, count, last_at }) => [key_ref, { count: Number(count), lastAt: Number(last_at) }]),
  );
}

/** Credited coins at deposit addresses that are in no sweep, by token. */
export async function sumUnswept(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<ReadonlyMap<Asset, bigint>> {
  const { rows } = await sql<{ currency: Asset; amount: string }>`
    select t.currency, sum(t.amount - t.swept_amount)::text as amount from payment_transaction t
    where t.merchant_id = ${merchantId} and t.network = ${network} and ${IS_UNSWEPT}
    group by t.currency`.execute(db);
  return new Map(rows.map(({ currency, amount }) => [currency, BigInt(amount)]));
}

/** Locks the unswept deposits of an address, oldest first. */
async function lockUnswept(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  { address, currency }: Pick<UnsweptAddress, 'address' | 'currency'>,
): Promise<Unswept[]> {
  const { rows } = await sql<{ tx_id: string; index: number; unswept: bigint }>`
    select t.tx_id, t.index, t.amount - t.swept_amount as unswept from payment_transaction t
    where t.merchant_id = ${merchantId} and t.network = ${network} and ${IS_UNSWEPT}
      and t.address = ${address} and t.currency = ${currency}
    order by t.final_at, t.tx_id, t.index
    for update`.execute(tx);
  return rows.map((row) => ({ txId: row.tx_id, index: row.index, unswept: row.unswept }));
}

/**
 * Claims the unswept coins of an address for a new sweep. Row locks give each coin to one of several concurrent callers.
 *
 * @param coinsOf how much may be claimed; called under the lock
 * @returns undefined if that is nothing, or less than the minimum
 */
export async function claimUnswept(
  tx: Tx,
  on: MerchantNetwork,
  from: UnsweptAddress,
  { minimum, coinsOf }: { minimum: bigint; coinsOf: (tx: Tx) => Promise<bigint> },
): Promise<SweptCoins | undefined> {
  const deposits = await lockUnswept(tx, on, from);
  const parts = allocate(deposits, await coinsOf(tx));
  const amount = sumOf(parts);
  if (amount === 0n || amount < minimum) return undefined;
  const sweepId = newId();
  await insertParts(tx, on, sweepId, parts);
  return { sweepId, currency: from.currency, addressIndex: from.addressIndex, amount };
}

/** Adds parts until they cover the amount that a sweep moved, as far as the address has deposits in no sweep. */
export async function bookMissingParts(
  tx: Tx,
  on: MerchantNetwork,
  { sweepId, amount, address, currency }: Omit<SweptCoins, 'addressIndex'> & { address: string },
): Promise<void> {
  // Locks first, so that a concurrent caller sees the parts booked here.
  const deposits = await lockUnswept(tx, on, { address, currency });
  const { rows } = await sql<{ booked: string }>`
    select coalesce(sum(amount), 0)::text as booked from sweep_part
    where merchant_id = ${on.merchantId} and sweep_id = ${sweepId}`.execute(tx);
  const parts = allocate(deposits, amount - BigInt(rows[0]?.booked ?? 0));
  if (parts.length > 0) await insertParts(tx, on, sweepId, parts);
}

const listedParts = (parts: readonly Part[]) =>
  listed('p', parts, {
    tx_id: ['text', (part) => part.txId],
    index: ['integer', (part) => part.index],
    amount: ['bigint', (part) => part.amount],
  });

async function insertParts(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  sweepId: string,
  parts: readonly Part[],
): Promise<void> {
  const rows = listedParts(parts);
  await sql`
    with noted as (
      insert into sweep_part as s (merchant_id, sweep_id, network, tx_id, index, amount)
      select ${merchantId}::uuid, ${sweepId}::uuid, ${network}, p.* from ${rows}
      on conflict (merchant_id, sweep_id, network, tx_id, index) do update set amount = s.amount + excluded.amount
    )
    update payment_transaction t set swept_amount = t.swept_amount + p.amount, sweep_id = ${sweepId}::uuid
    from ${rows}
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.tx_id = p.tx_id and t.index = p.index`.execute(
    tx,
  );
}

/** Releases the coins of sweeps that moved nothing. @returns the networks that hold them */
export async function releaseSweeps(
  tx: Tx,
  merchantId: string,
  sweepIds: readonly string[],
): Promise<Network[]> {
  const { rows } = await sql<{ network: Network; tx_id: string; index: number; amount: bigint }>`
    delete from sweep_part where merchant_id = ${merchantId} and sweep_id = any(${sweepIds}::uuid[])
    returning network, tx_id, index, amount`.execute(tx);
  const networks = [...new Set(rows.map((row) => row.network))];
  for (const network of networks) {
    const parts = rows.filter((row) => row.network === network);
    await releaseParts(
      tx,
      { merchantId, network },
      parts.map((row) => ({ txId: row.tx_id, index: row.index, amount: row.amount })),
    );
  }
  return networks;
}

/** Reduces the swept amounts. `sweep_id` becomes the newest sweep that still has a part of the deposit. */
async function releaseParts(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  parts: readonly Part[],
): Promise<void> {
  await sql`
    with given as (
      select p.tx_id, p.index, sum(p.amount)::bigint as amount from ${listedParts(parts)} group by 1, 2
    )
    update payment_transaction t set swept_amount = t.swept_amount - g.amount, sweep_id = (
      select s.sweep_id from sweep_part s
      where s.merchant_id = ${merchantId} and s.network = ${network} and s.tx_id = t.tx_id and s.index = t.index
      order by s.sweep_id desc limit 1)
    from given g
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.tx_id = g.tx_id and t.index = g.index`.execute(
    tx,
  );
}

/**
 * Sweeps that moved coins, with parts of lost deposits at addresses that have unswept ones. A sweep that is mined again may
 * be final before the deposits whose coins it took are credited.
 */
export async function listMisassigned(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<readonly string[]> {
  const { rows } = await sql<{ sweep_id: string }>`
    select distinct s.sweep_id from payment_transaction t
    join payment_transaction l on l.merchant_id = t.merchant_id and l.payment_id = t.payment_id
      and l.network = t.network and l.address = t.address and l.currency = t.currency and l.lost_at is not null
    join sweep_part s on s.merchant_id = l.merchant_id and s.network = l.network and s.tx_id = l.tx_id
      and s.index = l.index
    join transfer m on m.merchant_id = s.merchant_id and m.owner_type = 'sweep' and m.owner_id = s.sweep_id
    join transfer_attempt a on a.merchant_id = m.merchant_id and a.network = m.network and a.tx_id = m.tx_id
    where t.merchant_id = ${merchantId} and t.network = ${network} and ${IS_UNSWEPT}
      and m.status = 'succeeded' and m.lost_at is null and a.gone_at is null`.execute(db);
  return rows.map((row) => row.sweep_id);
}

/**
 * Reassigns parts of succeeded sweeps whose deposits are lost: such a sweep moved other coins of the address, so its
 * parts now point to unswept deposits there, as far as there are any.
 *
 * @returns the networks of the changed sweeps
 */
export async function reassignLostParts(
  tx: Tx,
  merchantId: string,
  sweepIds: readonly string[],
): Promise<Network[]> {
  const { rows } = await sql<LostPart>`
    select s.sweep_id, s.network, s.tx_id, s.index, s.amount, t.address, t.currency from sweep_part s
    join payment_transaction t on t.merchant_id = s.merchant_id and t.network = s.network and t.tx_id = s.tx_id
      and t.index = s.index
    where s.merchant_id = ${merchantId} and s.sweep_id = any(${sweepIds}::uuid[]) and t.lost_at is not null
    order by t.final_at, t.tx_id, t.index for update of t`.execute(tx);
  const networks = new Set<Network>();
  for (const [sweepId, parts] of Map.groupBy(rows, (row) => row.sweep_id)) {
    const network = await reassignParts(tx, merchantId, sweepId, parts);
    if (network !== undefined) networks.add(network);
  }
  return [...networks];
}

interface LostPart {
  sweep_id: string;
  network: Network;
  tx_id: string;
  index: number;
  amount: bigint;
  address: string;
  currency: Asset;
}

/** @returns the network, if any part was reassigned */
async function reassignParts(
  tx: Tx,
  merchantId: string,
  sweepId: string,
  parts: readonly LostPart[],
): Promise<Network | undefined> {
  const [first] = parts;
  if (first === undefined) return undefined;
  const on = { merchantId, network: first.network };
  const lost = parts.map((row) => ({ txId: row.tx_id, index: row.index, unswept: row.amount }));
  const total = lost.reduce((sum, { unswept }) => sum + unswept, 0n);
  const taken = allocate(await lockUnswept(tx, on, first), total);
  const freed = allocate(lost, sumOf(taken));
  if (freed.length === 0) return undefined;
  await dropParts(tx, on, sweepId, freed);
  await insertParts(tx, on, sweepId, taken);
  return first.network;
}

async function dropParts(
  tx: Tx,
  on: MerchantNetwork,
  sweepId: string,
  parts: readonly Part[],
): Promise<void> {
  const { merchantId, network } = on;
  for (const { txId, index, amount } of parts) {
    const key = sql`merchant_id = ${merchantId} and sweep_id = ${sweepId} and network = ${network}
      and tx_id = ${txId} and index = ${index}`;
    await sql`delete from sweep_part where ${key} and amount = ${amount}`.execute(tx);
    await sql`update sweep_part set amount = amount - ${amount} where ${key} and amount > ${amount}`.execute(
      tx,
    );
  }
  await releaseParts(tx, on, parts);
}
