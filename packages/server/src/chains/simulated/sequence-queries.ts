import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import type { ChainId } from './tables.ts';

export async function findNextSequence(db: Db, id: ChainId, address: string): Promise<bigint> {
  return (await findNextSequences(db, id, [address])).get(address) ?? 0n;
}

/** Sender → the lowest sequence that none of its mined transactions has used; senders without one are absent. */
export async function findNextSequences(
  db: Db,
  { merchantId, network }: ChainId,
  senders: readonly string[],
): Promise<Map<string, bigint>> {
  if (senders.length === 0) return new Map();
  const { rows } = await sql<{ address: string; next_sequence: bigint }>`
    select address, next_sequence from simchain.sender
    where merchant_id = ${merchantId} and network = ${network} and address = any(${senders}::text[])`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.address, row.next_sequence]));
}

/** The same as of the end of the block of that height. */
export async function findNextSequenceAt(
  db: Db,
  { merchantId, network }: ChainId,
  address: string,
  height: bigint,
): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`
    select least(s.next_sequence, (
      select min(x.sequence) from simchain.transaction x
      where x.merchant_id = ${merchantId} and x.network = ${network} and x.height > ${height}
        and x.sender = ${address}
    )) as next
    from simchain.sender s
    where s.merchant_id = ${merchantId} and s.network = ${network} and s.address = ${address}`.execute(db);
  return rows[0]?.next ?? 0n;
}

/** Sequences of senders' mined transactions, for each sender from its given sequence on. */
export async function listUsedSequences(
  tx: Tx,
  { merchantId, network }: ChainId,
  from: ReadonlyMap<string, bigint>,
): Promise<{ sender: string; sequence: bigint }[]> {
  const { rows } = await sql<{ sender: string; sequence: bigint }>`
    select t.sender, t.sequence from ${listed('u', [...from], { sender: ['text', ([s]) => s], least: ['bigint', ([, n]) => n] })}
    join simchain.transaction t on t.merchant_id = ${merchantId} and t.network = ${network} and t.sender = u.sender
      and t.sequence >= u.least and t.state = 'included'`.execute(tx);
  return rows;
}

export async function setNextSequences(
  tx: Tx,
  { merchantId, network }: ChainId,
  next: ReadonlyMap<string, bigint>,
): Promise<void> {
  if (next.size === 0) return;
  await sql`
    insert into simchain.sender (merchant_id, network, address, next_sequence)
    select ${merchantId}::uuid, ${network}, u.*
    from ${listed('u', [...next], { address: ['text', ([a]) => a], next: ['bigint', ([, n]) => n] })}
    on conflict (merchant_id, network, address) do update set next_sequence = excluded.next_sequence`.execute(
    tx,
  );
}

/** When each of these items was first broadcast to the `stuck` address; new ones are recorded with the present time. */
export async function recordStuckItems(
  tx: Tx,
  { merchantId, network }: ChainId,
  sender: string,
  items: { ids: string[]; now: number },
): Promise<number[]> {
  await sql`
    insert into simchain.stuck_item (merchant_id, network, sender, item_id, first_seen_at)
    select ${merchantId}::uuid, ${network}, ${sender}, id, ${items.now}::int8 from unnest(${items.ids}::text[]) as id
    on conflict (merchant_id, network, sender, item_id) do nothing`.execute(tx);
  const rows = await tx
    .selectFrom('simchain.stuck_item')
    .select('first_seen_at')
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('sender', '=', sender)
    .where('item_id', 'in', items.ids)
    .execute();
  return rows.map((row) => Number(row.first_seen_at));
}
