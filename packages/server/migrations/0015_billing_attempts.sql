-- What an invoice's tries and dunning go by: of each invoice, as two of a subscription may be unpaid at once.
set local lock_timeout = '5s';

alter table invoice
  -- The payment of its page: what is locked before the invoice ends.
  add column page_payment_id uuid,
  -- When the live charge was ordered, and what it takes of its mandate's cap in which window; kept once it has paid.
  add column attempt_at bigint,
  add column charge_method_id uuid,
  add column charge_window_start bigint,
  add column charge_amount bigint,
  -- From when its dunning days count, and how many of them have passed.
  add column overdue_from bigint,
  add column dunning_days_spent integer not null default 0 check (dunning_days_spent >= 0),
  add check ((charge_method_id is null) = (charge_window_start is null)),
  add check ((charge_method_id is null) = (charge_amount is null)),
  add check (status = 'open' or next_try_at is null);
-- What the charges of a window have taken of a cap.
create index invoice_cap_use on invoice (merchant_id, subscription_id, charge_method_id, charge_window_start)
  where charge_method_id is not null;

alter table subscription
  drop column cancel_when_settled,
  drop column first_failed_at,
  drop column dunning_days_spent;
