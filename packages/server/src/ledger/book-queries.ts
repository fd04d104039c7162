import { type RawBuilder, sql } from 'kysely';
import type { CauseType } from './causes.ts';

/** A subquery with the entries of causes of these types. */
export const entryRows = (merchantId: string, ...types: readonly CauseType[]): RawBuilder<unknown> => sql`(
  select cause_type, cause_id, debit, credit, currency, network, amount from ledger_entry
  where merchant_id = ${merchantId} and cause_type in (${sql.join(types)}))`;
