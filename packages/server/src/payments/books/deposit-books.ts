import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { CreditedKeys } from '../deposits/credited-keys.ts';
import { findCursor, listAddresses } from '../deposits/deposit-queries.ts';
import '../tables.ts';

/** What the books of payments say of a network's coins, as of the transaction: for reconciliation. */
export interface DepositBooks {
  /** All deposit addresses, in the form that `Chain.scan` takes. */
  watch: string[];
  /** The form that payers see. */
  addresses: string[];
  cursor: string | null;
  /** Keyed by `<tx_id>/<index>`: 8 bytes per deposit. */
  credited: CreditedKeys;
  /** Credited before their block was final. */
  early: readonly EarlyCoins[];
  /** What charges brought into the merchant's wallet, as booked. */
  pulled: ReadonlyMap<Asset, bigint>;
}

export async function readDepositBooks(db: Db, merchantId: string, network: Network): Promise<DepositBooks> {
  const rows = await listAddresses(db, merchantId, network);
  return {
    watch: rows.map((row) => row.watch),
    addresses: rows.map((row) => row.address),
    cursor: await findCursor(db, merchantId, network),
    credited: await CreditedKeys.read(db, merchantId, network),
    early: await listEarlyCoins(db, merchantId, network),
    pulled: await sumPulled(db, merchantId, network),
  };
}

/** Coins at a deposit address that were credited before their block was final. */
export interface EarlyCoins {
  address: string;
  currency: Asset;
  amount: bigint;
  height: bigint;
}

/** Early credits in blocks above the newest one that is recorded as final. */
async function listEarlyCoins(db: Db, merchantId: string, network: Network): Promise<EarlyCoins[]> {
  const { rows } = await sql<EarlyCoins>`
    select address, currency, amount, height from payment_transaction
    where merchant_id = ${merchantId} and network = ${network} and is_early and lost_at is null
      and height > (select coalesce(max(height), 0) from final_block
        where merchant_id = ${merchantId} and network = ${network})`.execute(db);
  return rows;
}

async function sumPulled(db: Db, merchantId: string, network: Network): Promise<Map<Asset, bigint>> {
  const { rows } = await sql<{ currency: Asset; total: string }>`
    select currency, sum(amount)::text as total from payment_transaction
    where merchant_id = ${merchantId} and network = ${network} and pulled
    group by currency`.execute(db);
  return new Map(rows.map(({ currency, total }) => [currency, BigInt(total)]));
}
