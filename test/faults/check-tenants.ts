import { idText } from './check-batches.ts';
import type { Finding, Query } from './checker.ts';
import type { Exchange, GoodClient } from './good-client.ts';

/** Everything that has an id which a caller may see. */
const IDS = `
  select merchant_id, batch_id as id from payout_batch
  union all select merchant_id, item_id from payout_item
  union all select merchant_id, payment_id from payment
  union all select merchant_id, session_id from checkout_session
  union all select merchant_id, event_id from event
  union all select merchant_id, entry_id from ledger_entry
  union all select merchant_id, store_id from store
  union all select merchant_id, key_id from api_key
  union all select merchant_id, merchant_id from merchant`;
const ID_IN_TEXT = /(?<=_)[0-9a-z]{26}\b/g;

/** I8: nothing that a merchant was told is another's: neither its canary nor the id of anything. */
export async function checkTenants(query: Query, clients: readonly GoodClient[]): Promise<Finding[]> {
  const rows = await query<{ merchant_id: string; id: string }>(IDS);
  const owners = new Map(rows.map((row) => [idText(row.id), row.merchant_id]));
  return clients.flatMap((client) => {
    const canaries = clients.filter((other) => other !== client).map(({ canary }) => canary);
    return client.exchanges.flatMap((exchange) => {
      const text = withoutEcho(exchange);
      const canary = canaries.find((foreign) => text.includes(foreign));
      const id = text
        .match(ID_IN_TEXT)
        ?.find((one) => (owners.get(one) ?? client.merchantId) !== client.merchantId);
      const found = canary ?? id;
      if (found === undefined) return [];
      const what = `${exchange.method} ${exchange.url} told ${found} of another merchant`;
      return [{ invariant: 'I8', what }];
    });
  });
}

/** A list repeats the address that was asked for, whatever stands in it. */
function withoutEcho({ url, text }: Exchange): string {
  const { pathname, search } = new URL(url);
  return text.replace(`"url":"${pathname}${search}"`, '');
}
