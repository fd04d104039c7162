import type { Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { type Account, imbalance } from '../accounts.ts';
import '../tables.ts';

/**
 * What is owed minus the coins on the networks, over all merchants, per currency: 0 where the books agree. Cheap, as it
 * reads balances only; `reconciliation` compares them with entries and chains.
 */
export async function ledgerImbalance(db: Db): Promise<Map<Asset, bigint>> {
  const { rows } = await sql<{ currency: Asset; account: Account; balance: string }>`
    select currency, account, sum(balance)::text as balance from ledger_account
    group by currency, account`.execute(db);
  const byCurrency = Map.groupBy(rows, (row) => row.currency);
  return new Map(
    [...byCurrency].map(([currency, accounts]) => [
      currency,
      imbalance(new Map(accounts.map(({ account, balance }) => [account, BigInt(balance)]))),
    ]),
  );
}
