import type { Asset, Network } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { kept, many, rowLoaderPerPool } from '../platform/db/index.ts';
import type { TransferRow } from './queries.ts';
import './tables.ts';

/** A wallet that is charged. */
export interface ChargedWallet {
  network: Network;
  address: string;
  currency: Asset;
}

/** What charges that are not decided may still take out of each of these wallets of one network, in their order. */
export async function sumOpenCharges(
  db: Db,
  merchantId: string,
  network: Network,
  wallets: readonly Omit<ChargedWallet, 'network'>[],
): Promise<bigint[]> {
  const { rows } = await openChargesOf(merchantId, network, wallets).execute(db);
  return rows.map((row) => BigInt(row.total));
}

/** The same as a statement. */
export function openChargesOf(
  merchantId: string,
  network: Network,
  wallets: readonly Omit<ChargedWallet, 'network'>[],
): RawBuilder<{ total: string }> {
  const column = <T>(pick: (wallet: Omit<ChargedWallet, 'network'>) => T) => wallets.map(pick);
  return sql`${many('address')}
    select w.address, (
      select coalesce(sum(t.amount), 0)::text from transfer t
      where t.merchant_id = ${merchantId} and t.network = ${network} and t.address = w.address
        and t.currency = w.currency and t.charge is not null and t.status in ('queued', 'sending')
    ) as total
    from unnest(${column((w) => w.address)}::text[], ${column((w) => w.currency)}::text[])
      with ordinality as w (address, currency, place)
    order by w.place`;
}

/** By merchant: jobs of charges that begin together ask together which groups are charges. */
const lanes = rowLoaderPerPool<{ group_id: string; network: Network; currency: Asset }>(
  async (db, merchantId, groupIds) => {
    const { rows } = await sql<{ group_id: string; network: Network; currency: Asset }>`${kept}
      select group_id, network, currency from transfer
      where merchant_id = ${merchantId} and group_id = any(${groupIds}::uuid[]) and charge is not null`.execute(
      db,
    );
    return rows;
  },
  (row) => row.group_id,
);

/** The network and the token of a group that is a charge; undefined for any other group. Never in a transaction. */
export async function findChargeLane(
  db: Db,
  merchantId: string,
  groupId: string,
): Promise<string | undefined> {
  const charge = await lanes(db).load(merchantId, groupId);
  return charge && `${charge.network} ${charge.currency}`;
}

/** A charge that is over: what it was of, and how it ended. */
export interface DecidedCharge extends ChargedWallet {
  status: 'succeeded' | 'failed';
  tx_id: string | null;
  failure_code: string | null;
  subscription_id: string;
}

const decided = rowLoaderPerPool<DecidedCharge & { group_id: string }>(
  async (db, merchantId, paymentIds) => {
    const { rows } = await sql<DecidedCharge & { group_id: string }>`${kept}
      select group_id, status, tx_id, failure_code, network, address, currency,
        charge ->> 'subscriptionId' as subscription_id
      from transfer
      where merchant_id = ${merchantId} and group_id = any(${paymentIds}::uuid[]) and charge is not null
        and status in ('succeeded', 'failed')`.execute(db);
    return rows;
  },
  (row) => row.group_id,
);

/** Never in a transaction. @returns undefined while it is on its way */
export async function findDecidedCharge(
  db: Db,
  merchantId: string,
  paymentId: string,
): Promise<DecidedCharge | undefined> {
  return await decided(db).load(merchantId, paymentId);
}

/** Charges of a mandate that have no attempt yet, locked. */
export async function lockQueuedCharges(
  tx: Tx,
  merchantId: string,
  { network, address, currency, mandateId }: ChargedWallet & { mandateId: string },
): Promise<TransferRow[]> {
  return await tx
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('address', '=', address)
    .where('currency', '=', currency)
    .where('charge', 'is not', null)
    .where('status', '=', 'queued')
    .where(sql<boolean>`charge -> 'mandate' ->> 'mandateId' = ${mandateId}`)
    .orderBy('transfer_id')
    .forUpdate()
    .execute();
}
