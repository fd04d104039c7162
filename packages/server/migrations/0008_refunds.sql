-- Refunds of payments, and what a store may refund in a day.
set local lock_timeout = '5s';

-- Money on its way back to a payer. Everything that changes one locks the row of its payment first.
create table refund (
  merchant_id uuid not null,
  refund_id uuid not null,
  -- The refund_id that callers know: the merchant's own.
  own_id text not null,
  store_id uuid not null,
  payment_id uuid not null,
  -- The wrong_token transfer that is refunded; null: the payment's own money.
  source_tx_id text,
  source_index integer,
  currency text not null,
  network text not null,
  amount bigint not null check (amount > 0),
  -- As it was given; null while the payer has not named it.
  address text,
  status text not null check (status in ('pending', 'processing', 'succeeded', 'failed', 'canceled')),
  tx_id text,
  failure_reason text check (failure_reason in ('address_risk', 'transfer_failed')),
  reason text,
  metadata jsonb not null default '{}',
  -- The sealed secret of the link by which the payer names the address, and when that is over.
  claim_secret bytea,
  claim_ends_at bigint,
  -- Since when too few coins lie on the network to send it.
  short_since bigint,
  -- The UTC day against whose limit it counts.
  day integer not null,
  created_at bigint not null,
  completed_at bigint,
  primary key (merchant_id, refund_id),
  unique (merchant_id, own_id),
  check ((source_tx_id is null) = (source_index is null)),
  check ((status in ('succeeded', 'failed', 'canceled')) = (completed_at is not null)),
  check ((status = 'failed') = (failure_reason is not null)),
  check (address is not null or status in ('pending', 'canceled')),
  check ((claim_secret is null) = (claim_ends_at is null))
);
select app.shard('refund');
create index refund_payment on refund (merchant_id, payment_id);
create index refund_open on refund (merchant_id) where status in ('pending', 'processing');

-- What a store has refunded on a day, all tokens added up: one row that its refunds wait for.
create table refund_quota (
  merchant_id uuid not null,
  store_id uuid not null,
  day integer not null,
  amount bigint not null check (amount >= 0),
  primary key (merchant_id, store_id, day)
);
select app.shard('refund_quota');
