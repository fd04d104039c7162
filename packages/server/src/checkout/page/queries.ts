import type { Db } from '../../platform/db/index.ts';
import { listed, prepared } from '../../platform/db/statements/index.ts';
import '../tables.ts';

const selectSession = (db: Db, merchantId: string, sessionId: string) =>
  db
    .selectFrom('checkout_session as s')
    .innerJoin('merchant as m', 'm.merchant_id', 's.merchant_id')
    .innerJoin('store as o', (join) =>
      join.onRef('o.merchant_id', '=', 's.merchant_id').onRef('o.store_id', '=', 's.store_id'),
    )
    .selectAll('s')
    .select(['m.mode', 'm.clock_offset', 'm.status as merchant_status', 'o.name as store_name'])
    .select(['o.accent', 'o.support', 'o.terms_url', 'o.logo_id', 'o.logo_width', 'o.logo_height'])
    .where('s.merchant_id', '=', merchantId)
    .where('s.session_id', '=', sessionId);

/** A session with the columns of merchant and store that its page needs. */
export async function findSessionOfPage(
  db: Db,
  { merchantId, sessionId }: { merchantId: string; sessionId: string },
) {
  return await selectSession(db, merchantId, sessionId).executeTakeFirst();
}
export type PageSession = NonNullable<Awaited<ReturnType<typeof findSessionOfPage>>>;

/**
 * A version string per payment that differs as soon as its page may: made of the mutable columns of payment, options and
 * transactions, and the heights of networks while confirmations are counted.
 */
export async function readVersions(
  db: Db,
  payments: readonly { merchantId: string; paymentId: string }[],
): Promise<Map<string, string>> {
  const wanted = listed('w', payments, {
    merchant_id: ['uuid', (p) => p.merchantId],
    payment_id: ['uuid', (p) => p.paymentId],
  });
  const { rows } = await prepared<{ payment_id: string; version: string }>`
    select p.payment_id, concat_ws(' ',
      p.status, p.received_amount, p.refunding_amount, p.refunded_amount, p.chosen_currency, p.chosen_network, p.fixed_currency, p.fixed_network, m.clock_offset, m.status,
      (select string_agg(concat_ws(',', o.currency, o.network, o.pay_amount, o.quote_ends_at), ';'
                         order by o.currency, o.network)
       from payment_option o where o.merchant_id = p.merchant_id and o.payment_id = p.payment_id),
      (select string_agg(concat_ws(',', t.tx_id, t.index, t.kind, t.status, t.height,
                                   case when t.status = 'seen' then c.height end), ';' order by t.tx_id, t.index)
       from payment_transaction t
       left join deposit_cursor c on c.merchant_id = t.merchant_id and c.network = t.network
       where t.merchant_id = p.merchant_id and t.payment_id = p.payment_id)) as version
    from ${wanted}
    join payment p on p.merchant_id = w.merchant_id and p.payment_id = w.payment_id
    join merchant m on m.merchant_id = p.merchant_id`.execute(db);
  return new Map(rows.map((row) => [row.payment_id, row.version]));
}
