-- Conventions (ARCHITECTURE.md, "Data"): merchant_id leads every key of a tenant's table; times are Unix seconds
-- of the merchant's clock (int8), technical times are real milliseconds and end in _ms; money is int8 at 6 digits.
-- Each table is sharded right after it is created, while it is empty and nothing refers to it.
set local lock_timeout = '5s';

create schema app;

-- On plain PostgreSQL these three do nothing; with the citus extension they distribute the table.
create function app.has_citus() returns boolean language sql stable as
  $$ select exists (select from pg_extension where extname = 'citus') $$;
create function app.shard(name text) returns void language plpgsql as $$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_distributed_table(%L, ''merchant_id'', colocate_with => %L)', name,
                 case when name = 'merchant' then 'default' else 'merchant' end);
end $$;
create function app.shard_by(name text, shard_column text) returns void language plpgsql as $$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_distributed_table(%L, %L, colocate_with => ''none'')', name, shard_column);
end $$;
create function app.replicate(name text) returns void language plpgsql as $$
begin
  if not app.has_citus() then return; end if;
  execute format('select create_reference_table(%L)', name);
end $$;

-- Merchants, stores, keys, approvers -----------------------------------------------------------------------------

create table merchant (
  merchant_id uuid primary key,
  name text not null,
  mode text not null check (mode in ('sandbox', 'live')),
  status text not null default 'active' check (status in ('active', 'suspended')),
  clock_offset bigint not null default 0 check (clock_offset >= 0),
  created_at bigint not null
);
select app.shard('merchant');

create table store (
  merchant_id uuid not null,
  store_id uuid not null,
  name text not null,
  channel_type text not null check (channel_type in ('api', 'hosted')),
  review_status text not null default 'pending' check (review_status in ('pending', 'approved', 'rejected')),
  enabled boolean not null default false,
  created_at bigint not null,
  primary key (merchant_id, store_id)
);
select app.shard('store');

create table approver (
  merchant_id uuid not null,
  approver_id uuid not null,
  name text not null,
  token_digest bytea not null,
  removed_at bigint,
  created_at bigint not null,
  primary key (merchant_id, approver_id)
);
select app.shard('approver');
create unique index approver_name on approver (merchant_id, name) where removed_at is null;

create table api_key (
  merchant_id uuid not null,
  key_id uuid not null,
  store_id uuid not null,
  name text not null,
  -- SHA-256 of the API key: the key itself is shown once and not kept.
  digest bytea not null,
  last_four text not null,
  scopes text[] not null,
  owner_approver_id uuid,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until_ms bigint,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  created_at bigint not null,
  primary key (merchant_id, key_id),
  unique (merchant_id, digest)
);
select app.shard('api_key');

-- A spent nonce of a key: written in a commit of its own before the effect of the request.
create table nonce (
  merchant_id uuid not null,
  key_id uuid not null,
  nonce text not null,
  spent_at_ms bigint not null,
  primary key (merchant_id, key_id, nonce)
);
select app.shard('nonce');
create index nonce_age on nonce (spent_at_ms);

create table idempotency_key (
  merchant_id uuid not null,
  operation text not null,
  key text not null,
  digest bytea not null,
  store_id uuid not null,
  resource_id uuid not null,
  created_at bigint not null,
  primary key (merchant_id, operation, key)
);
select app.shard('idempotency_key');

-- A row of the nil merchant is the installation's default for all merchants.
create table setting (
  merchant_id uuid not null,
  name text not null,
  value jsonb not null,
  primary key (merchant_id, name)
);
select app.shard('setting');

-- Data keys wrapped by the master key, which never lies in the database.
create table data_key (
  data_key_id uuid primary key,
  wrapped bytea not null,
  created_at_ms bigint not null
);
select app.replicate('data_key');

create table risk_address (
  network text not null,
  address text not null,
  reason text not null,
  created_at_ms bigint not null,
  primary key (network, address)
);
select app.replicate('risk_address');

-- Ledger ---------------------------------------------------------------------------------------------------------

create table ledger_account (
  merchant_id uuid not null,
  account text not null,
  currency text not null,
  balance bigint not null default 0,
  -- 0 for every account but the operator's float, which may be below zero until it is filled up.
  floor bigint not null default 0,
  primary key (merchant_id, account, currency),
  check (balance >= floor)
);
select app.shard('ledger_account');

create table ledger_entry (
  merchant_id uuid not null,
  entry_id uuid not null,
  journal_id uuid not null,
  debit text not null,
  credit text not null,
  currency text not null,
  network text,
  amount bigint not null check (amount > 0),
  cause_type text not null,
  cause_id uuid not null,
  created_at bigint not null,
  check (debit <> credit),
  primary key (merchant_id, entry_id)
);
select app.shard('ledger_entry');
create index ledger_entry_order on ledger_entry (merchant_id, created_at desc, entry_id desc);
create index ledger_entry_cause on ledger_entry (merchant_id, cause_id, created_at desc, entry_id desc);

-- Jobs: what must happen later ------------------------------------------------------------------------------------

create table job (
  merchant_id uuid not null,
  job_id uuid not null,
  kind text not null,
  -- At most one waiting job of a kind with the same key; the job's own id where no key was given.
  unique_key text not null,
  due_at_ms bigint not null,
  follows_clock boolean not null default false,
  payload jsonb not null default '{}',
  attempts integer not null default 0,
  last_error text,
  -- Set while a worker has it: until when, whose, and the fencing token that each of its writes must match.
  lease_until_ms bigint,
  lease_owner integer,
  fence bigint not null default 0,
  -- Rises when the same job is asked for again: news that came while it ran makes it run once more.
  revision integer not null default 0,
  primary key (merchant_id, job_id),
  unique (merchant_id, kind, unique_key)
)
-- Room for the version of a row that a claim writes: as no index holds what a claim changes, it stays in its page and
-- touches no index.
with (fillfactor = 50);
select app.shard('job');
-- Which merchants have due work and whose leases there are (whatever is leased is due); the next of one merchant's.
create index job_due on job (due_at_ms, merchant_id);
create index job_next on job (merchant_id, due_at_ms);

-- Transfers: the send-once machine ---------------------------------------------------------------------------------

-- One movement of value that a merchant's resource asked for; it succeeds or fails exactly once.
create table transfer (
  merchant_id uuid not null,
  transfer_id uuid not null,
  owner_type text not null,
  owner_id uuid not null,
  -- Transfers of one group (a payout batch) may share a transaction.
  group_id uuid not null,
  network text not null,
  currency text not null,
  address text not null,
  amount bigint not null check (amount > 0),
  memo text,
  status text not null check (status in ('queued', 'sending', 'succeeded', 'failed')),
  tries integer not null default 0,
  -- Sent alone from now on: its group failed as a whole, so that one bad recipient cannot fail the others again.
  alone boolean not null default false,
  attempt_id uuid,
  tx_id text,
  failure_code text,
  failure_message text,
  created_at bigint not null,
  completed_at bigint,
  primary key (merchant_id, transfer_id),
  unique (merchant_id, owner_type, owner_id)
);
select app.shard('transfer');
create index transfer_group on transfer (merchant_id, group_id);
create index transfer_attempt_members on transfer (merchant_id, attempt_id) where attempt_id is not null;

-- One signed transaction. It is stored before it is sent, and only its stored bytes are ever sent.
create table transfer_attempt (
  merchant_id uuid not null,
  attempt_id uuid not null,
  group_id uuid not null,
  network text not null,
  currency text not null,
  sender text not null,
  sequence bigint,
  status text not null check (status in ('reserved', 'signed', 'sent', 'succeeded', 'failed', 'dead')),
  tx_id text,
  raw text,
  item_ids uuid[] not null,
  valid_until_height bigint,
  valid_until_ms bigint,
  detail text,
  created_at bigint not null,
  completed_at bigint,
  primary key (merchant_id, attempt_id),
  unique (merchant_id, network, tx_id)
);
select app.shard('transfer_attempt');
create unique index transfer_attempt_sequence on transfer_attempt (merchant_id, network, sender, sequence)
  where sequence is not null;
create index transfer_attempt_live on transfer_attempt (merchant_id, group_id)
  where status in ('reserved', 'signed', 'sent');

-- A sending wallet and its next sequence (EVM nonce). Wallets belong to no tenant: a group of their own.
create table wallet (
  network text not null,
  sender text not null,
  next_sequence bigint not null default 0,
  primary key (sender, network)
);
select app.shard_by('wallet', 'sender');
create table wallet_sequence (
  network text not null,
  sender text not null,
  sequence bigint not null,
  attempt_id uuid not null,
  primary key (sender, network, sequence)
);
select app.shard_by('wallet_sequence', 'sender');

-- Payout batches ---------------------------------------------------------------------------------------------------

create table payout_batch (
  merchant_id uuid not null,
  batch_id uuid not null,
  store_id uuid not null,
  key_id uuid not null,
  idempotency_key text not null,
  currency text not null,
  network text not null,
  status text not null check (status in ('draft', 'needs_fix', 'pending', 'pending_approval', 'processing',
    'partially_completed', 'completed', 'failed', 'canceled', 'rejected')),
  description text,
  total_count integer not null,
  valid_count integer not null,
  invalid_count integer not null,
  success_count integer not null default 0,
  failed_count integer not null default 0,
  -- Sum of all items, valid or not: what minimum, maximum, approval threshold and quota compare.
  requested_amount bigint not null,
  total_amount bigint not null,
  service_fee_amount bigint not null,
  debit_amount bigint not null,
  frozen_amount bigint not null default 0,
  charged_service_fee_amount bigint not null default 0,
  validation_errors jsonb not null,
  -- What approvers bind themselves to: SHA-256 over the items as submitted.
  items_digest bytea,
  submitted_by_owner uuid,
  submitted_day integer,
  required_approvals integer not null default 0,
  created_at bigint not null,
  submitted_at bigint,
  completed_at bigint,
  primary key (merchant_id, batch_id),
  check (valid_count + invalid_count = total_count)
);
select app.shard('payout_batch');
create index payout_batch_order on payout_batch (merchant_id, created_at desc, batch_id desc);
create index payout_batch_status on payout_batch (merchant_id, status, created_at desc, batch_id desc);
create index payout_batch_key on payout_batch (merchant_id, idempotency_key);

-- No further index: items are read through their batch (design: each index here costs a tenth of the throughput).
create table payout_item (
  merchant_id uuid not null,
  batch_id uuid not null,
  index integer not null,
  item_id uuid not null,
  real_name text,
  network text not null,
  address text not null,
  memo text,
  amount bigint not null check (amount > 0),
  service_fee_amount bigint not null,
  status text not null check (status in ('valid', 'invalid', 'queued', 'processing', 'succeeded', 'failed', 'canceled')),
  validation_errors jsonb not null,
  tx_id text,
  failure_code text,
  failure_message text,
  created_at bigint not null,
  completed_at bigint,
  primary key (merchant_id, batch_id, index)
);
select app.shard('payout_item');

-- Submitted sums of a merchant, currency and UTC day: one row to lock, so that two submits cannot both fit.
create table payout_quota (
  merchant_id uuid not null,
  currency text not null,
  day integer not null,
  amount bigint not null check (amount >= 0),
  primary key (merchant_id, currency, day)
);
select app.shard('payout_quota');

create table payout_approval (
  merchant_id uuid not null,
  batch_id uuid not null,
  approver_id uuid not null,
  decision text not null check (decision in ('approved', 'rejected')),
  items_digest bytea not null,
  created_at bigint not null,
  primary key (merchant_id, batch_id, approver_id)
);
select app.shard('payout_approval');
