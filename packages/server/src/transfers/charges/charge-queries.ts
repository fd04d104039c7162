import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { rowLoaderPerPool } from '../../platform/db/loaders/index.ts';
import { listed, type PreparedStatement, prepared } from '../../platform/db/statements/index.ts';
import type { TransferRow } from '../queries.ts';
import '../tables.ts';

/** A payer's wallet and the token that is charged. */
export interface ChargedWallet {
  network: Network;
  address: string;
  currency: Asset;
}

/** Sums of undecided charges, which may still be taken, for each of these wallets, in their order. */
export async function sumOpenCharges(
  db: Db,
  merchantId: string,
  wallets: readonly ChargedWallet[],
): Promise<bigint[]> {
  const { rows } = await openChargesOf(merchantId, wallets).execute(db);
  return rows.map((row) => BigInt(row.total));
}

/** The same as a statement. */
export function openChargesOf(
  merchantId: string,
  wallets: readonly ChargedWallet[],
): PreparedStatement<{ total: string }> {
  const ordered = listed('w', wallets, {
    network: ['text', (w) => w.network],
    address: ['text', (w) => w.address],
    currency: ['text', (w) => w.currency],
    position: ['integer', (_w, i) => i],
  });
  return prepared<{ total: string }>`
    select (
      select coalesce(sum(t.amount), 0)::text from transfer t
      where t.merchant_id = ${merchantId} and t.network = w.network and t.address = w.address
        and t.currency = w.currency and t.charge is not null and t.status in ('queued', 'sending')
    ) as total
    from ${ordered}
    order by w.position`;
}

/** Batched by merchant: jobs that begin together read in one statement which of their groups are charges. */
const batchKeys = rowLoaderPerPool<{ group_id: string; network: Network; currency: Asset }>(
  async (db, merchantId, groupIds) => {
    const { rows } = await prepared<{ group_id: string; network: Network; currency: Asset }>`
      select group_id, network, currency from transfer
      where merchant_id = ${merchantId} and group_id = any(${groupIds}::uuid[]) and charge is not null`.execute(
      db,
    );
    return rows;
  },
  (row) => row.group_id,
);

/**
 * The key under which a charge runs together with others: its network and token. Undefined for a group that is no charge.
 * Not for use in a transaction.
 */
export async function findChargeBatchKey(
  db: Db,
  merchantId: string,
  groupId: string,
): Promise<string | undefined> {
  const charge = await batchKeys(db).load(merchantId, groupId);
  return charge && `${charge.network} ${charge.currency}`;
}

/** A charge that has succeeded or failed. */
export interface DecidedCharge extends ChargedWallet {
  status: 'succeeded' | 'failed';
  tx_id: string | null;
  failure_code: string | null;
  subscription_id: string;
}

const decided = rowLoaderPerPool<DecidedCharge & { group_id: string }>(
  async (db, merchantId, paymentIds) => {
    const { rows } = await prepared<DecidedCharge & { group_id: string }>`
      select group_id, status, tx_id, failure_code, network, address, currency,
        charge ->> 'subscriptionId' as subscription_id
      from transfer
      where merchant_id = ${merchantId} and group_id = any(${paymentIds}::uuid[]) and charge is not null
        and status in ('succeeded', 'failed')`.execute(db);
    return rows;
  },
  (row) => row.group_id,
);

/** Not for use in a transaction. @returns undefined while the charge is under way */
export async function findDecidedCharge(
  db: Db,
  merchantId: string,
  paymentId: string,
): Promise<DecidedCharge | undefined> {
  return await decided(db).load(merchantId, paymentId);
}

/** Locks the charges of a mandate that have no attempt yet. */
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

/** Locks those of these charges that have no attempt yet, and whose mandate is on its way to the network. */
export async function lockAwaitingCharges(
  tx: Tx,
  merchantId: string,
  groupIds: readonly string[],
): Promise<TransferRow[]> {
  return await tx
    .selectFrom('transfer')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where(sql<boolean>`group_id = any(${groupIds}::uuid[])`)
    .where('charge', 'is not', null)
    .where('status', '=', 'queued')
    .where(
      sql<boolean>`exists (select from mandate_activation a
        where a.merchant_id = transfer.merchant_id and a.network = transfer.network
          and a.mandate_id = transfer.charge -> 'mandate' ->> 'mandateId' and a.status = 'open')`,
    )
    .orderBy('transfer_id')
    .forUpdate()
    .execute();
}
