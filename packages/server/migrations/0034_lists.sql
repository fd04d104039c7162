-- Lists of payments, sessions, refunds and payment methods: newest first, by an index for each filter.
set local lock_timeout = '5s';

-- The merchant's reference of the payment's session. It never changes, so payments are found without their sessions.
alter table payment add column order_id text;
-- How the payment deviates from what was asked for, as its last change found it.
alter table payment add column exceptions jsonb not null default '[]';

update payment p set order_id = s.order_id
from checkout_session s
where s.merchant_id = p.merchant_id and s.session_id = p.session_id and s.order_id is not null;

-- At the tolerance that holds where nobody has set another one.
with money as (
  select p.merchant_id, p.payment_id, p.canceled_at, coalesce(p.expires_at, p.closed_at) as ended_at, p.received_amount,
    (select o.pay_amount from payment_option o where o.merchant_id = p.merchant_id and o.payment_id = p.payment_id
       and o.currency = p.fixed_currency and o.network = p.fixed_network) as pay_amount,
    max(t.seen_at) filter (where t.kind = 'counted' and (p.completed_at is null or t.seen_at <= p.completed_at)) as last_at,
    bool_or(t.kind = 'wrong_token') as is_wrong
  from payment p
  join payment_transaction t on t.merchant_id = p.merchant_id and t.payment_id = p.payment_id and t.status <> 'gone'
  group by p.merchant_id, p.payment_id
), judged as (
  select merchant_id, payment_id, to_jsonb(array_remove(array[
      case when received_amount > 0
        and received_amount < pay_amount - least(pay_amount * 50 / 10000, 500000) then 'underpaid' end,
      case when received_amount > pay_amount then 'overpaid' end,
      case when canceled_at is null and last_at > ended_at then 'late' end,
      case when is_wrong then 'wrong_token' end,
      case when last_at >= canceled_at then 'canceled' end
    ], null)) as exceptions
  from money
)
update payment p set exceptions = j.exceptions
from judged j
where j.merchant_id = p.merchant_id and j.payment_id = p.payment_id and j.exceptions <> '[]';

create index payment_list on payment (merchant_id, store_id, created_at, payment_id);
create index payment_status on payment (merchant_id, store_id, status, created_at, payment_id);
create index payment_customer on payment (merchant_id, store_id, customer, created_at, payment_id)
  where customer is not null;
create index payment_order on payment (merchant_id, store_id, order_id, created_at, payment_id)
  where order_id is not null;
create index payment_currency on payment (merchant_id, store_id, currency, created_at, payment_id);
create index payment_network on payment
  (merchant_id, store_id, coalesce(fixed_network, chosen_network), created_at, payment_id)
  where coalesce(fixed_network, chosen_network) is not null;
create index payment_underpaid on payment (merchant_id, store_id, created_at, payment_id)
  where exceptions @> '["underpaid"]';
create index payment_overpaid on payment (merchant_id, store_id, created_at, payment_id)
  where exceptions @> '["overpaid"]';
create index payment_late on payment (merchant_id, store_id, created_at, payment_id) where exceptions @> '["late"]';
create index payment_wrong_token on payment (merchant_id, store_id, created_at, payment_id)
  where exceptions @> '["wrong_token"]';
create index payment_canceled on payment (merchant_id, store_id, created_at, payment_id)
  where exceptions @> '["canceled"]';

-- Charges are payments without a session: a store may have millions of them and a few sessions.
create index payment_session_list on payment (merchant_id, store_id, created_at, session_id)
  where session_id is not null;
create index payment_session_status on payment (merchant_id, store_id, status, created_at, session_id)
  where session_id is not null;

create index refund_list on refund (merchant_id, store_id, created_at, refund_id);
create index refund_status on refund (merchant_id, store_id, status, created_at, refund_id);
create index refund_currency on refund (merchant_id, store_id, currency, created_at, refund_id);
create index refund_network on refund (merchant_id, store_id, network, created_at, refund_id);
create index refund_address on refund (merchant_id, store_id, address, created_at, refund_id) where address is not null;
create index refund_tx on refund (merchant_id, store_id, tx_id, created_at, refund_id) where tx_id is not null;

create index payment_method_status on payment_method (merchant_id, status, created_at, payment_method_id);
create index payment_method_currency on payment_method (merchant_id, currency, created_at, payment_method_id);
create index payment_method_network on payment_method (merchant_id, network, created_at, payment_method_id);
