-- What is given back of invoices: taken off one that is open, or a credit of what a paid one covers, never more. And what
-- waits while a merchant is suspended.
set local lock_timeout = '5s';

alter table invoice
  -- What earlier credits pay of it; `amount_due` is the rest.
  add column credit_applied_amount bigint not null default 0 check (credit_applied_amount >= 0),
  -- What of its payment was given back as a credit.
  add column credited_amount bigint not null default 0,
  -- Given back while a payment of it was on its way: taken off once that fails, a credit once it succeeds.
  add column reduction_amount bigint not null default 0,
  add constraint invoice_credited_of_paid
    check (credited_amount between 0 and case status when 'paid' then amount_due else 0 end),
  add constraint invoice_reduction_of_open
    check (reduction_amount between 0 and case status when 'open' then amount_due else 0 end);

-- A credit that is younger than an open invoice of a change is taken off that.
update invoice i set reduction_amount = least(o.amount_due, s.credit_amount - o.before)
from (
  select merchant_id, invoice_id, subscription_id, amount_due, (sum(amount_due) over (
      partition by merchant_id, subscription_id order by created_at desc, invoice_id desc
    ) - amount_due)::bigint as before
  from invoice where status = 'open' and billing_reason = 'subscription_update'
) o
join subscription s on s.merchant_id = o.merchant_id and s.subscription_id = o.subscription_id
where i.merchant_id = o.merchant_id and i.invoice_id = o.invoice_id and s.credit_amount > o.before;

-- What remains of credits is of what was paid last; what nobody ever paid is none.
update invoice i set credited_amount = least(p.amount_due, s.credit_amount - r.reduced - p.before)
from (
  select merchant_id, invoice_id, subscription_id, amount_due, (sum(amount_due) over (
      partition by merchant_id, subscription_id order by created_at desc, invoice_id desc
    ) - amount_due)::bigint as before
  from invoice where status = 'paid'
) p
join subscription s on s.merchant_id = p.merchant_id and s.subscription_id = p.subscription_id
cross join lateral (
  select coalesce(sum(o.reduction_amount), 0)::bigint as reduced from invoice o
  where o.merchant_id = p.merchant_id and o.subscription_id = p.subscription_id
) r
where i.merchant_id = p.merchant_id and i.invoice_id = p.invoice_id and s.credit_amount - r.reduced > p.before;

update subscription s set credit_amount = (
  select coalesce(sum(i.credited_amount), 0)::bigint from invoice i
  where i.merchant_id = s.merchant_id and i.subscription_id = s.subscription_id
)
where credit_amount > 0;

-- Before the first payment the current period is the one that this is for.
update subscription s set current_period_start = i.period_start, current_period_end = i.period_end
from invoice i
where s.current_period_start is null and i.merchant_id = s.merchant_id and i.subscription_id = s.subscription_id
  and i.billing_reason = 'subscription_create';
alter table subscription
  drop constraint subscription_check,
  alter column current_period_start set not null,
  alter column current_period_end set not null;

alter table merchant
  -- Since when it is suspended, by its own clock, and how long it was in all before that.
  add column suspended_at bigint,
  add column suspended_seconds bigint not null default 0 check (suspended_seconds >= 0);
update merchant set suspended_at = extract(epoch from statement_timestamp())::bigint + clock_offset
where status = 'suspended';
alter table merchant add constraint merchant_suspended_since check ((status = 'suspended') = (suspended_at is not null));

-- How much of that the times of an open invoice are moved by already.
alter table invoice add column suspended_seconds bigint not null default 0;
-- Where the newest period ends whose renewal came due while its merchant was suspended; null: none since the last paid one.
alter table subscription add column skipped_until bigint;
