-- Payment methods: mandates by which payers let us pull from their wallets. Charges of them are transfers.
set local lock_timeout = '5s';

-- A mandate that the chain has shown. What it allows never changes; the last reading says what its wallet can pay.
create table payment_method (
  merchant_id uuid not null,
  payment_method_id uuid not null,
  -- The store whose page took it: its events go there.
  store_id uuid not null,
  customer_id uuid not null,
  currency text not null,
  network text not null,
  -- The payer's wallet and the one wallet that it may be pulled into, in canonical form.
  wallet_address text not null,
  recipient text not null,
  -- Its id on the chain, which follows from all that it allows; the salt sets equal ones apart.
  mandate_id text not null,
  salt text not null,
  -- Most units in each window of a subscription.
  cap_amount bigint not null check (cap_amount > 0),
  interval text not null check (interval in ('day', 'week', 'month', 'year')),
  starts_at bigint not null,
  ends_at bigint,
  status text not null check (status in ('active', 'inactive', 'revoked', 'unknown')),
  -- What a final block last showed of the wallet, and when.
  balance bigint not null check (balance >= 0),
  allowance bigint not null check (allowance >= 0),
  read_at bigint not null,
  -- When the health watch reads it next; null: never again, as it is revoked.
  next_read_at bigint,
  metadata jsonb not null default '{}',
  created_at bigint not null,
  primary key (merchant_id, payment_method_id),
  unique (merchant_id, network, mandate_id),
  check ((status = 'revoked') = (next_read_at is null)),
  check (ends_at is null or ends_at > starts_at)
);
select app.shard('payment_method');
create index payment_method_list on payment_method (merchant_id, created_at, payment_method_id);
create index payment_method_customer on payment_method (merchant_id, customer_id, created_at, payment_method_id);
create index payment_method_due on payment_method (merchant_id, network, next_read_at) where next_read_at is not null;
-- Methods of one wallet share what it holds and allows.
create index payment_method_wallet on payment_method (merchant_id, network, wallet_address, currency);

-- A charge is a transfer into our wallet: address is the payer's, and this is what the mandate says of it.
alter table transfer add column charge jsonb;
create index transfer_charge_open on transfer (merchant_id, network, address, currency)
  where charge is not null and status in ('queued', 'sending');
