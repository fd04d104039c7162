import { type RawBuilder, sql } from 'kysely';

/** Credits of subscriptions as a subquery, for `reconciliation`. */
export const creditRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select subscription_id, currency, credit_amount from subscription
  where merchant_id = ${merchantId})`;
