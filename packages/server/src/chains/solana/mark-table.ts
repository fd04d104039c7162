import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import type { Mark, Marks } from './marks.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    solana_mark: {
      merchant_id: string;
      account: string;
      amount: bigint;
      since: bigint;
      reported_at: bigint;
      previous_amount: bigint;
      previous_since: bigint;
      late_from: bigint | null;
      is_leaving: boolean;
    };
  }
}

/**
 * The marks of a merchant. An account in which nothing ever moved has no row, and a scan that finds nothing writes none. What two
 * processes save at once is a mark of either: whoever scans on from the other's end reads again.
 */
export class MarkTable implements Marks {
  readonly #db: Db;
  readonly #merchantId: string;

  constructor(db: Db, merchantId: string) {
    this.#db = db;
    this.#merchantId = merchantId;
  }

  async find(accounts: readonly string[]): Promise<ReadonlyMap<string, Mark>> {
    const rows = await this.#db
      .selectFrom('solana_mark')
      .selectAll()
      .where('merchant_id', '=', this.#merchantId)
      .where(sql<boolean>`account = any(${accounts}::text[])`)
      .execute();
    return new Map(
      rows.map((row) => [
        row.account,
        {
          amount: row.amount,
          since: row.since,
          reportedAt: row.reported_at,
          previous: { amount: row.previous_amount, since: row.previous_since },
          lateFrom: row.late_from,
          isLeaving: row.is_leaving,
        },
      ]),
    );
  }

  /** A sweep that was noted since the marks were found stays noted. */
  async save(marks: ReadonlyMap<string, Mark>, found: ReadonlyMap<string, Mark>): Promise<void> {
    if (marks.size === 0) return;
    const rows = listed('v', [...marks], {
      account: ['text', ([account]) => account],
      amount: ['bigint', ([, mark]) => mark.amount],
      since: ['bigint', ([, mark]) => mark.since],
      reported_at: ['bigint', ([, mark]) => mark.reportedAt],
      previous_amount: ['bigint', ([, mark]) => mark.previous.amount],
      previous_since: ['bigint', ([, mark]) => mark.previous.since],
      late_from: ['bigint', ([, mark]) => mark.lateFrom],
      is_leaving: ['boolean', ([, mark]) => mark.isLeaving],
    });
    const wereLeaving = [...marks.keys()].filter((account) => found.get(account)?.isLeaving === true);
    await sql`
      insert into solana_mark as t (merchant_id, account, amount, since, reported_at, previous_amount, previous_since,
        late_from, is_leaving)
      select ${this.#merchantId}::uuid, v.* from ${rows} order by v.account
      on conflict (merchant_id, account) do update set amount = excluded.amount, since = excluded.since,
        reported_at = excluded.reported_at, previous_amount = excluded.previous_amount,
        previous_since = excluded.previous_since, late_from = excluded.late_from,
        is_leaving = excluded.is_leaving or (t.is_leaving and t.account <> all(${wereLeaving}::text[]))`.execute(
      this.#db,
    );
  }

  async noteLeaving(accounts: readonly string[]): Promise<void> {
    await this.#db
      .updateTable('solana_mark')
      .set({ is_leaving: true })
      .where('merchant_id', '=', this.#merchantId)
      .where(sql<boolean>`account = any(${accounts}::text[])`)
      .execute();
  }
}
