import type { Finding, Query, Statement } from './checker.ts';
import type { GoodClient } from './good-client.ts';

/** What left for an item or a refund went where that says. */
const PAID_ELSEWHERE = `
  with said as (
    select merchant_id, item_id as owner_id, network, address, amount, currency from payout_item
    join payout_batch using (merchant_id, batch_id, network)
    union all select merchant_id, refund_id, network, address, amount, currency from refund
  )
  select s.owner_id, s.address, t.recipient, s.amount, t.amount as moved from said s
  join transfer o on o.merchant_id = s.merchant_id and o.owner_id = s.owner_id
  join simchain.transfer t on t.merchant_id = s.merchant_id and t.network = o.network and t.item_id = o.transfer_id::text
  where lower(t.recipient) <> lower(s.address) or t.amount <> s.amount or t.currency <> s.currency`;

export const RECIPIENT_CHECKS: readonly Statement[] = [
  ['I2', 'paid to somebody else than was said', PAID_ELSEWHERE],
];

/** Where the sender of a payment got its refunds without being asked, and what of the payment it had sent. */
const REFUNDS = `
  select r.own_id, r.payment_id, lower(r.address) as address, r.amount::text as amount, r.status,
    (select coalesce(sum(t.amount), 0) from payment_transaction t where t.merchant_id = r.merchant_id
      and t.payment_id = r.payment_id and t.network = r.network and t.currency = r.currency and t.status = 'final'
      and t.kind = 'counted' and lower(t.sender) = lower(r.address))::text as sent
  from refund r where r.merchant_id = $1 and r.address is not null`;

interface RefundRow {
  own_id: string;
  payment_id: string;
  address: string;
  amount: string;
  status: string;
  sent: string;
}

/** Addresses that a merchant, or its payer behind the link, named for each refund, whether that was taken or not. */
function namedFor({ exchanges }: GoodClient): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const { url, method, body } of exchanges) {
    const [, claimed] = /\/refunds\/([^/]+)\/claim$/.exec(url) ?? [];
    if (method !== 'POST' || (claimed === undefined && !url.endsWith('/refunds/create'))) continue;
    const { refund_id, address } = JSON.parse(body ?? '{}');
    const id = claimed ?? String(refund_id);
    const known = named.get(id) ?? new Set();
    named.set(id, typeof address === 'string' ? known.add(address.toLowerCase()) : known);
  }
  return named;
}

/** I2: a refund goes where somebody said, else to a wallet that sent as much as it gets. */
export async function checkRecipients(query: Query, client: GoodClient): Promise<Finding[]> {
  const named = namedFor(client);
  const rows = await query<RefundRow>(REFUNDS, [client.merchantId]);
  const unnamed = rows.filter(({ own_id, address }) => named.get(own_id)?.has(address) !== true);
  const paid = unnamed.filter(({ status }) => status !== 'failed' && status !== 'canceled');
  const byWallet = Map.groupBy(paid, ({ payment_id, address }) => `${address} for ${payment_id}`);
  return [...byWallet].flatMap(([wallet, refunds]) => {
    const sum = refunds.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const sent = BigInt(refunds[0]?.sent ?? 0);
    if (sum <= sent) return [];
    return [{ invariant: 'I2', what: `${wallet} sent ${sent}, and got ${sum} that nobody named it for` }];
  });
}
