import type { Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import { balanceKey } from './execute.ts';
import type { ChainId } from './tables.ts';

/** Changes of balances by `balanceKey`. */
export class BalanceChanges {
  readonly #changes = new Map<string, { address: string; asset: Asset; change: bigint }>();

  add(address: string, asset: Asset, change: bigint): void {
    const key = balanceKey(address, asset);
    const before = this.#changes.get(key)?.change ?? 0n;
    this.#changes.set(key, { address, asset, change: before + change });
  }

  list(): { address: string; asset: Asset; change: bigint }[] {
    return [...this.#changes.values()].filter(({ change }) => change !== 0n);
  }
}

/** `balanceKey` → units, for the accounts that have a row. */
export async function readBalances(
  db: Db,
  { merchantId, network }: ChainId,
  addresses: string[],
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ address: string; currency: Asset; balance: bigint }>`
    select address, currency, balance from simchain.account
    where merchant_id = ${merchantId} and network = ${network} and address = any(${addresses}::text[])`.execute(
    db,
  );
  return new Map(rows.map((row) => [balanceKey(row.address, row.currency), row.balance]));
}

/** Adds the changes. The caller holds the chain's lock, so that read and write are one step. */
export async function applyChanges(tx: Tx, id: ChainId, changes: BalanceChanges): Promise<void> {
  const list = changes.list();
  if (list.length === 0) return;
  const before = await readBalances(
    tx,
    id,
    list.map(({ address }) => address),
  );
  const changed = listed('u', list, {
    address: ['text', (one) => one.address],
    currency: ['text', (one) => one.asset],
    balance: ['bigint', (one) => (before.get(balanceKey(one.address, one.asset)) ?? 0n) + one.change],
  });
  // Writes the new balance, not the change: the check constraint is tested on the proposed row, before the conflict.
  await sql`
    insert into simchain.account (merchant_id, network, address, currency, balance)
    select ${id.merchantId}::uuid, ${id.network}, u.* from ${changed}
    on conflict (merchant_id, network, address, currency) do update set balance = excluded.balance`.execute(
    tx,
  );
}

/**
 * The balances at the end of the block of that height, without those that are 0. One statement, so that a block that is
 * settled meanwhile is in all of its parts or in none.
 */
export async function balancesAt(
  db: Db,
  { merchantId, network }: ChainId,
  { addresses, asset }: { addresses: readonly string[]; asset: Asset },
  height: bigint,
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ address: string; balance: bigint }>`
    select address, sum(amount)::int8 as balance from (
      select address, balance as amount from simchain.account
      where merchant_id = ${merchantId} and network = ${network} and currency = ${asset}
        and address = any(${addresses}::text[])
      union all
      select recipient, -amount from simchain.transfer
      where merchant_id = ${merchantId} and network = ${network} and currency = ${asset} and height > ${height}
        and recipient = any(${addresses}::text[])
      union all
      select t.sender, t.amount from simchain.transfer t
      join simchain.transaction x
        on x.merchant_id = t.merchant_id and x.network = t.network and x.tx_id = t.tx_id
      where t.merchant_id = ${merchantId} and t.network = ${network} and t.currency = ${asset}
        and t.height > ${height} and t.sender = any(${addresses}::text[]) and (x.origin = 'wallet' or t.from_account)
    ) as moved group by address having sum(amount) <> 0`.execute(db);
  return new Map(rows.map((row) => [row.address, row.balance]));
}
