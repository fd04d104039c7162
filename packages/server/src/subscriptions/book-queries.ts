import { type RawBuilder, sql } from 'kysely';

/** What subscriptions say of money, as a table of a statement, for whoever compares the books. */
export const creditRows = (merchantId: string): RawBuilder<unknown> => sql`(
  select subscription_id, currency, credit_amount from subscription
  where merchant_id = ${merchantId})`;
