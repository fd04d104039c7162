import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import type { WindowUse } from './charge-rules.ts';
import { balanceKey } from './execute.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';

/** Above every height: as of the newest block. */
export const NEWEST = 2n ** 62n;

/** An approval, activation or revocation by a payer's wallet. */
export type Permission =
  | { kind: 'approve'; asset: Asset; spender: string; amount: bigint }
  | { kind: 'activate' | 'revoke'; asset: Asset; mandateId: string };

export async function insertPermissions(
  tx: Tx,
  { merchantId, network }: ChainId,
  permissions: readonly Permission[],
  origin: { txId: string; owner: string; height: bigint; firstNumber: bigint },
): Promise<void> {
  await tx
    .insertInto('simchain.permission')
    .values(
      permissions.map((one, i) => ({
        merchant_id: merchantId,
        network,
        number: origin.firstNumber + BigInt(i),
        tx_id: origin.txId,
        kind: one.kind,
        owner: origin.owner,
        currency: one.asset,
        spender: one.kind === 'approve' ? one.spender : null,
        amount: one.kind === 'approve' ? one.amount : null,
        mandate_id: one.kind === 'approve' ? null : one.mandateId,
        height: origin.height,
      })),
    )
    .execute();
}

export interface Owner {
  owner: string;
  asset: Asset;
}

/** A wallet's allowance for our spender: the approval less what was pulled since; zero once revoked. */
export interface Allowed {
  amount: bigint;
  isRevoked: boolean;
  /** The last word is an approval of our spender. */
  isOurs: boolean;
}

const hasCollector = (network: Network) => NETWORK_RULES[network].capabilities.windowCap;

/**
 * `balanceKey` → each wallet's allowance for the spender as of the end of a block; a wallet without any permission is
 * absent. The last permission counts. Where there is a collector, revocations concern the mandate there, not the allowance;
 * on spl another spender's approval ends ours, as a token account has one delegate.
 *
 * The pulled amounts are joined once for all wallets: in a new database without statistics, a subquery per wallet would
 * read the whole chain each time.
 */
export async function allowancesAt(
  db: Db,
  { merchantId, network }: ChainId,
  { owners, spender }: { owners: readonly Owner[]; spender: string },
  height: bigint,
): Promise<Map<string, Allowed>> {
  const { rows } = await sql<{
    owner: string;
    currency: Asset;
    kind: string;
    spender: string | null;
    amount: bigint | null;
    pulled: bigint;
  }>`
    with word as materialized (
      select u.owner, u.currency, p.* from (
        select distinct * from ${listed('o', owners, { owner: ['text', (o) => o.owner], currency: ['text', (o) => o.asset] })}
      ) as u
      cross join lateral (
        select kind, spender, amount, height, number from simchain.permission
        where merchant_id = ${merchantId} and network = ${network} and owner = u.owner and currency = u.currency
          and height <= ${height}::int8
          and (kind = 'revoke' and not ${hasCollector(network)}::boolean
            or kind = 'approve' and (spender = ${spender} or ${network === 'spl'}::boolean))
        order by height desc, number desc limit 1
      ) as p
    ), pulled as (
      select t.sender as owner, t.currency, sum(t.amount)::int8 as amount
      from word join simchain.transfer t on t.sender = word.owner and t.currency = word.currency
        and (t.height, t.number) > (word.height, word.number)
      where t.merchant_id = ${merchantId} and t.network = ${network} and t.mandate_id is not null
        and t.height <= ${height}::int8
      group by t.sender, t.currency
    )
    select owner, currency, word.kind, word.spender, word.amount, coalesce(pulled.amount, 0)::int8 as pulled
    from word left join pulled using (owner, currency)`.execute(db);
  return new Map(
    rows.map((row) => {
      const isOurs = row.spender === spender;
      const left = isOurs ? (row.amount ?? 0n) - row.pulled : 0n;
      const allowed = { amount: left > 0n ? left : 0n, isRevoked: row.kind === 'revoke', isOurs };
      return [balanceKey(row.owner, row.currency), allowed];
    }),
  );
}

/** Mandate id → its status in the collector as of the end of a block; unknown mandates are absent. */
export async function mandateStatusesAt(
  db: Db,
  { merchantId, network }: ChainId,
  mandateIds: readonly string[],
  height: bigint,
): Promise<Map<string, 'active' | 'revoked'>> {
  if (!hasCollector(network)) return new Map();
  const { rows } = await sql<{ mandate_id: string; kind: string }>`
    select m.mandate_id, p.kind
    from (select distinct * from unnest(${mandateIds}::text[]) as u (mandate_id)) as m
    cross join lateral (
      select kind from simchain.permission
      where merchant_id = ${merchantId} and network = ${network} and mandate_id = m.mandate_id
        and height <= ${height}::int8
      order by height desc, number desc limit 1
    ) as p`.execute(db);
  return new Map(rows.map((row) => [row.mandate_id, row.kind === 'revoke' ? 'revoked' : 'active']));
}

/** The charges in windows that overlap these. */
export async function listUses(
  tx: Tx,
  { merchantId, network }: ChainId,
  windows: readonly Omit<WindowUse, 'amount'>[],
): Promise<WindowUse[]> {
  const wanted = listed('u', windows, {
    mandate_id: ['text', (w) => w.mandateId],
    subscription_id: ['text', (w) => w.subscriptionId],
    window_start: ['bigint', (w) => w.windowStart],
    window_end: ['bigint', (w) => w.windowEnd],
  });
  const { rows } = await sql<{
    mandate_id: string;
    subscription_id: string;
    window_start: bigint;
    window_end: bigint;
    amount: bigint;
  }>`
    select distinct t.number, t.mandate_id, t.subscription_id, t.window_start, t.window_end, t.amount
    from ${wanted}
    join simchain.transfer t on t.merchant_id = ${merchantId} and t.network = ${network}
      and t.mandate_id = u.mandate_id and t.subscription_id = u.subscription_id
      and t.window_start < u.window_end and u.window_start < t.window_end`.execute(tx);
  return rows.map((row) => ({
    mandateId: row.mandate_id,
    subscriptionId: row.subscription_id,
    windowStart: Number(row.window_start),
    windowEnd: Number(row.window_end),
    amount: row.amount,
  }));
}

/** Mandate id → the subscriptions that were charged by it. */
export async function listServed(
  tx: Tx,
  { merchantId, network }: ChainId,
  mandateIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  if (mandateIds.length === 0) return new Map();
  const { rows } = await sql<{ mandate_id: string; subscription_ids: string[] }>`
    select mandate_id, array_agg(distinct subscription_id) as subscription_ids from simchain.transfer
    where merchant_id = ${merchantId} and network = ${network} and mandate_id = any(${mandateIds}::text[])
    group by mandate_id`.execute(tx);
  return new Map(rows.map((row) => [row.mandate_id, new Set(row.subscription_ids)]));
}
