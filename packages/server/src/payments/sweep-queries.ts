import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { allocate, type Part, sumOf, type Unswept } from './allocate.ts';
import './tables.ts';

// A sweep takes what lies at a deposit address, and its parts say of which deposits that is. After a reorganisation a
// sweep that is mined again may find other deposits' coins there: its parts follow what it took.

interface Place {
  merchantId: string;
  network: Network;
}

/** A deposit address that holds credited coins of a token which no sweep has taken. */
export interface UnsweptAddress {
  address: string;
  currency: Asset;
  addressIndex: number;
  /** Seized coins that lie there as well, and stay. */
  seized: bigint;
  /** The newest block that brought any of it: a node that does not know that one shows too little. */
  newest: bigint;
}

/** Coins of one token at one deposit address, taken for a sweep. */
export interface SweptCoins {
  sweepId: string;
  currency: Asset;
  addressIndex: number;
  amount: bigint;
}

/** Of which deposits there is something to sweep. */
const IS_UNSWEPT = sql`t.status = 'final' and t.swept_amount < t.amount and t.kind in ('counted', 'wrong_token')
  and t.lost_at is null and not t.pulled`;

/** Addresses with as much unswept as is worth a sweep, in order, after one of them. */
export async function listUnswept(
  db: Db,
  { merchantId, network }: Place,
  { minimum, after, limit }: { minimum: bigint; after: UnsweptAddress | undefined; limit: number },
): Promise<UnsweptAddress[]> {
  const { rows } = await sql<{
    address: string;
    currency: Asset;
    address_index: bigint;
    seized: string;
    newest: bigint;
  }>`
    with worth as (
      select t.address, t.currency, min(t.payment_id::text)::uuid as payment_id,
        max(t.height) as newest
      from payment_transaction t
      where t.merchant_id = ${merchantId} and t.network = ${network} and ${IS_UNSWEPT}
        and (t.address, t.currency) > (${after?.address ?? ''}::text, ${after?.currency ?? ''}::text)
      group by t.address, t.currency having sum(t.amount - t.swept_amount) >= ${minimum}
      order by t.address, t.currency limit ${limit}
    )
    select w.address, w.currency, w.newest, d.address_index, (
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
    newest: row.newest,
  }));
}

/** Deposits at an address that are not swept, the oldest first, locked. */
async function lockUnswept(
  tx: Tx,
  { merchantId, network }: Place,
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
 * Takes of an address what lies there and belongs to no sweep yet. Of two callers at once each coin goes to one.
 *
 * @param coinsOf how much may be taken, asked under the lock
 * @returns undefined where that is nothing, or less than the minimum
 */
export async function takeUnswept(
  tx: Tx,
  place: Place,
  from: UnsweptAddress,
  { minimum, coinsOf }: { minimum: bigint; coinsOf: (tx: Tx) => Promise<bigint> },
): Promise<SweptCoins | undefined> {
  const deposits = await lockUnswept(tx, place, from);
  const parts = allocate(deposits, await coinsOf(tx));
  const amount = sumOf(parts);
  if (amount === 0n || amount < minimum) return undefined;
  const sweepId = newId();
  await insertParts(tx, place, sweepId, parts);
  return { sweepId, currency: from.currency, addressIndex: from.addressIndex, amount };
}

/** A sweep that took so much of an address gets what it lacks of it in parts, as far as there are deposits in no sweep. */
export async function bookParts(
  tx: Tx,
  place: Place,
  { sweepId, amount, address, currency }: Omit<SweptCoins, 'addressIndex'> & { address: string },
): Promise<void> {
  // The lock comes first: of two callers at once the second one sees what the first has booked.
  const deposits = await lockUnswept(tx, place, { address, currency });
  const { rows } = await sql<{ booked: string }>`
    select coalesce(sum(amount), 0)::text as booked from sweep_part
    where merchant_id = ${place.merchantId} and sweep_id = ${sweepId}`.execute(tx);
  const parts = allocate(deposits, amount - BigInt(rows[0]?.booked ?? 0));
  if (parts.length > 0) await insertParts(tx, place, sweepId, parts);
}

async function insertParts(
  tx: Tx,
  { merchantId, network }: Place,
  sweepId: string,
  parts: readonly Part[],
): Promise<void> {
  const column = <T>(pick: (part: Part) => T) => parts.map(pick);
  const rows = sql`unnest(${column((p) => p.txId)}::text[], ${column((p) => p.index)}::int4[],
                          ${column((p) => p.amount)}::bigint[]) as p (tx_id, index, amount)`;
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

/** The coins of sweeps that moved nothing belong to none again. @returns the networks that they lie on */
export async function returnUnswept(
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
    await giveBack(
      tx,
      { merchantId, network },
      parts.map((row) => ({ txId: row.tx_id, index: row.index, amount: row.amount })),
    );
  }
  return networks;
}

/** Of a deposit that two sweeps shared, the other one stays named. */
async function giveBack(tx: Tx, { merchantId, network }: Place, parts: readonly Part[]): Promise<void> {
  const column = <T>(pick: (part: Part) => T) => parts.map(pick);
  await sql`
    with given as (
      select p.tx_id, p.index, sum(p.amount)::bigint as amount
      from unnest(${column((p) => p.txId)}::text[], ${column((p) => p.index)}::int4[],
                  ${column((p) => p.amount)}::bigint[]) as p (tx_id, index, amount) group by 1, 2
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
 * Sweeps that moved coins although deposits of theirs are lost have taken other deposits' coins, as far as there are any
 * at the address: these are the sweep's now.
 *
 * @returns the networks of those that did
 */
export async function followSweptAgain(
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
    const taker = await takeOthers(tx, merchantId, sweepId, parts);
    if (taker !== undefined) networks.add(taker);
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

/** @returns the network where it took any */
async function takeOthers(
  tx: Tx,
  merchantId: string,
  sweepId: string,
  parts: readonly LostPart[],
): Promise<Network | undefined> {
  const [first] = parts;
  if (first === undefined) return undefined;
  const place = { merchantId, network: first.network };
  const lost = parts.map((row) => ({ txId: row.tx_id, index: row.index, unswept: row.amount }));
  const whole = lost.reduce((sum, { unswept }) => sum + unswept, 0n);
  const taken = allocate(await lockUnswept(tx, place, first), whole);
  const freed = allocate(lost, sumOf(taken));
  if (freed.length === 0) return undefined;
  await dropParts(tx, place, sweepId, freed);
  await insertParts(tx, place, sweepId, taken);
  return first.network;
}

async function dropParts(tx: Tx, place: Place, sweepId: string, parts: readonly Part[]): Promise<void> {
  const { merchantId, network } = place;
  for (const { txId, index, amount } of parts) {
    const key = sql`merchant_id = ${merchantId} and sweep_id = ${sweepId} and network = ${network}
      and tx_id = ${txId} and index = ${index}`;
    await sql`delete from sweep_part where ${key} and amount = ${amount}`.execute(tx);
    await sql`update sweep_part set amount = amount - ${amount} where ${key} and amount > ${amount}`.execute(
      tx,
    );
  }
  await giveBack(tx, place, parts);
}
