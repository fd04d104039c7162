-- Subscriptions and their invoices.
set local lock_timeout = '5s';

-- What a customer has agreed to pay each period. Everything that changes a subscription or its invoices locks its row.
create table subscription (
  merchant_id uuid not null,
  subscription_id uuid not null,
  store_id uuid not null,
  customer_id uuid not null,
  -- The merchant's own id of the customer, by which lists ask.
  customer text not null,
  currency text not null,
  description text,
  status text not null
    check (status in ('incomplete', 'trialing', 'active', 'past_due', 'canceled', 'incomplete_expired')),
  -- [{"id": uuid, "product", "unit_amount": "1999", "quantity": 1, "metadata": {}}], and their sum in the smallest unit.
  items jsonb not null,
  amount bigint not null check (amount >= 0),
  interval text not null check (interval in ('day', 'week', 'month', 'year')),
  payment_method_id uuid,
  billing_cycle_anchor bigint not null,
  trial_end bigint,
  -- The last period that was paid, or the trial; null before.
  current_period_start bigint,
  current_period_end bigint,
  -- When it is to end, and when it ended. A cancel while a charge is on its way is done once that is final.
  cancel_at bigint,
  canceled_at bigint,
  cancel_when_settled boolean not null default false,
  -- What changes to smaller items left over: the next invoices use it up first.
  credit_amount bigint not null default 0 check (credit_amount >= 0),
  -- The items from the next period on, as `items`; null: the same.
  pending_items jsonb,
  latest_invoice_id uuid,
  success_url text,
  cancel_url text,
  -- Random, a part of the address of the page for the first payment: whoever knows an id cannot open the page.
  page_token text not null,
  -- Dunning: from when its days count, and how many of them have passed.
  first_failed_at bigint,
  dunning_days_spent integer not null default 0 check (dunning_days_spent >= 0),
  metadata jsonb not null default '{}',
  created_at bigint not null,
  primary key (merchant_id, subscription_id),
  check ((current_period_start is null) = (current_period_end is null)),
  check ((status = 'canceled') = (canceled_at is not null))
);
select app.shard('subscription');
-- The list: newest first, by each combination of its filters.
create index subscription_list on subscription (merchant_id, store_id, created_at, subscription_id);
create index subscription_status on subscription (merchant_id, store_id, status, created_at, subscription_id);
create index subscription_customer on subscription (merchant_id, store_id, customer, created_at, subscription_id);
create index subscription_customer_status
  on subscription (merchant_id, store_id, customer, status, created_at, subscription_id);
-- What a payment method still has to pay for.
create index subscription_method on subscription (merchant_id, payment_method_id)
  where payment_method_id is not null and status in ('incomplete', 'trialing', 'active', 'past_due');

-- What is due for a period, or for a change within one.
create table invoice (
  merchant_id uuid not null,
  invoice_id uuid not null,
  store_id uuid not null,
  subscription_id uuid not null,
  customer_id uuid not null,
  customer text not null,
  amount_due bigint not null check (amount_due >= 0),
  currency text not null,
  status text not null check (status in ('open', 'paid', 'void')),
  payment_status text not null
    check (payment_status in ('pending', 'processing', 'completed', 'failed', 'canceled', 'expired')),
  billing_reason text not null
    check (billing_reason in ('subscription_create', 'subscription_cycle', 'subscription_update')),
  interval text not null check (interval in ('day', 'week', 'month', 'year')),
  period_start bigint not null,
  period_end bigint not null,
  -- The record of a period that passed while an earlier one was unpaid: void, and nobody's latest invoice.
  skipped boolean not null default false,
  -- Its page, and the newest charge of a mandate for it.
  session_id uuid,
  charge_payment_id uuid,
  -- The payment by which it is being paid at this moment: one column, so one at most.
  live_attempt uuid,
  -- Charges that count as tries; the time of the next one; whether charges are over (the page and a new method are not).
  tries integer not null default 0 check (tries >= 0),
  next_try_at bigint,
  charges_ended boolean not null default false,
  due_date bigint not null,
  paid_at bigint,
  created_at bigint not null,
  primary key (merchant_id, invoice_id),
  check (period_end >= period_start),
  check ((status = 'paid') = (paid_at is not null)),
  check (case status
    when 'open' then payment_status in ('pending', 'processing', 'failed')
    when 'paid' then payment_status = 'completed'
    else payment_status in ('canceled', 'expired') end),
  check (status = 'open' or live_attempt is null)
);
select app.shard('invoice');
-- Of two schedulers that open the same period's invoice one does.
create unique index invoice_period_once on invoice (merchant_id, subscription_id, period_start)
  where billing_reason in ('subscription_create', 'subscription_cycle');
create index invoice_open on invoice (merchant_id, subscription_id) where status = 'open';
create index invoice_list on invoice (merchant_id, store_id, created_at, invoice_id);
create index invoice_status on invoice (merchant_id, store_id, status, created_at, invoice_id);
create index invoice_customer on invoice (merchant_id, store_id, customer_id, created_at, invoice_id);
create index invoice_customer_status
  on invoice (merchant_id, store_id, customer_id, status, created_at, invoice_id);
create index invoice_subscription on invoice (merchant_id, subscription_id, created_at, invoice_id);
