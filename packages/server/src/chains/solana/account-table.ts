import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { TokenAccounts } from './derive-accounts.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    solana_token_account: { merchant_id: string; mint: string; owner: string; account: string };
  }
}

/** The token accounts of a merchant's deposit addresses. A row never changes: it says what anybody would derive. */
export class TokenAccountTable implements TokenAccounts {
  readonly #db: Db;
  readonly #merchantId: string;

  constructor(db: Db, merchantId: string) {
    this.#db = db;
    this.#merchantId = merchantId;
  }

  async find(owners: readonly string[], mint: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#db
      .selectFrom('solana_token_account')
      .select(['owner', 'account'])
      .where('merchant_id', '=', this.#merchantId)
      .where('mint', '=', mint)
      .where(sql<boolean>`owner = any(${owners}::text[])`)
      .execute();
    return new Map(rows.map(({ owner, account }) => [owner, account]));
  }

  async save(accounts: ReadonlyMap<string, string>, mint: string): Promise<void> {
    // In one order, so that two processes that save the same ones do not wait for each other in a circle.
    const sorted = [...accounts].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await sql`
      insert into solana_token_account (merchant_id, mint, owner, account)
      select ${this.#merchantId}::uuid, ${mint}, v.owner, v.account
      from unnest(${sorted.map(([owner]) => owner)}::text[], ${sorted.map(([, account]) => account)}::text[]) as v (owner, account)
      on conflict (merchant_id, mint, owner) do nothing`.execute(this.#db);
  }
}
