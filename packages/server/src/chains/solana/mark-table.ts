import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import { type Mark, type Marks, NO_MARK } from './marks.ts';

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
      leaving_since: bigint | null;
      swept_by: string | null;
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
          leavingSince: row.leaving_since,
          sweptBy: row.swept_by,
        },
      ]),
    );
  }

  async reportedBehind(cursor: bigint): Promise<readonly string[]> {
    const { rows } = await sql<{ owner: string }>`
      select distinct a.owner from solana_mark m
      join solana_token_account a on a.merchant_id = m.merchant_id and a.account = m.account
      where m.merchant_id = ${this.#merchantId} and m.reported_at > ${cursor}::bigint`.execute(this.#db);
    return rows.map(({ owner }) => owner);
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
      leaving_since: ['bigint', ([, mark]) => mark.leavingSince],
      swept_by: ['uuid', ([, mark]) => mark.sweptBy],
    });
    const accounts = [...marks.keys()];
    const were = accounts.map((account) => found.get(account)?.leavingSince ?? -2n);
    const isNoted = sql`t.leaving_since > coalesce((${were}::bigint[])[array_position(${accounts}::text[], t.account)], -2)`;
    await sql`
      insert into solana_mark as t (merchant_id, account, amount, since, reported_at, previous_amount, previous_since,
        late_from, leaving_since, swept_by)
      select ${this.#merchantId}::uuid, v.* from ${rows} order by v.account
      on conflict (merchant_id, account) do update set amount = excluded.amount, since = excluded.since,
        reported_at = excluded.reported_at, previous_amount = excluded.previous_amount,
        previous_since = excluded.previous_since, late_from = excluded.late_from,
        leaving_since = case when ${isNoted} then t.leaving_since else excluded.leaving_since end,
        swept_by = case when ${isNoted} then t.swept_by else excluded.swept_by end`.execute(this.#db);
  }

  async noteLeaving(
    accounts: readonly string[],
    { slot, by }: { slot: bigint; by: string },
  ): Promise<ReadonlySet<string>> {
    const { amount, since, reportedAt } = NO_MARK;
    const { rows } = await sql<{ account: string; swept_by: string }>`
      insert into solana_mark as t (merchant_id, account, amount, since, reported_at, previous_amount, previous_since, leaving_since,
        swept_by)
      select ${this.#merchantId}::uuid, account, ${amount}::bigint, ${since}::bigint, ${reportedAt}::bigint, ${amount}::bigint,
        ${since}::bigint, ${slot}::bigint, ${by}::uuid
      from unnest(${[...new Set(accounts)].sort()}::text[]) as account
      on conflict (merchant_id, account) do update
        set leaving_since = greatest(t.leaving_since, excluded.leaving_since),
          swept_by = coalesce(t.swept_by, excluded.swept_by)
      returning account, swept_by`.execute(this.#db);
    return new Set(rows.filter((row) => row.swept_by === by).map(({ account }) => account));
  }
}
